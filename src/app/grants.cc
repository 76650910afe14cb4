#include "app/grants.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/limits.h"
#include "base/size.h"

namespace cardhour {
namespace {

bool has_run(const Instance& instance) { return instance.run_id.has_value(); }

tl::unexpected<Error> quota_error(const Text& what, int limit) {
  return fail(ErrorCode::quota_exceeded, what,
              text("the limit is {}; stop or release one, or ask the operator",
                   "上限为 {}；请先关机或释放一台，或联系运营者提高配额", limit));
}

Status check_quotas(Tx& tx, const Policy& policy, const GrantRequest& request) {
  int total = 0;
  int running = 0;
  int cards = 0;
  TRY_ASSIGN(const auto instances, tx.instances().of_account(request.account));
  for (const Instance& instance : instances) {
    ++total;
    if (!has_run(instance) || instance.id == request.replaces) continue;
    ++running;
    cards += instance.mode == Mode::no_gpu ? 0 : instance.gpu_count;
  }
  const Quotas& quotas = policy.quotas;
  if (request.new_instance && total >= quotas.instances) {
    return quota_error(text("you have {} instances already", "您已有 {} 台实例", total),
                       quotas.instances);
  }
  if (running >= quotas.running) {
    return quota_error(text("{} of your instances run already", "您已有 {} 台实例在运行", running),
                       quotas.running);
  }
  if (cards + request.shape.gpu_count > quotas.cards) {
    return quota_error(text("this would make {} cards at once", "这将同时占用 {} 张卡",
                            cards + request.shape.gpu_count),
                       quotas.cards);
  }
  return {};
}

// What is free, for the error that says so.
std::string free_models(const std::vector<ModelSpace>& models) {
  std::string text;
  for (const ModelSpace& model : models) {
    if (model.cards_free == 0) continue;
    if (!text.empty()) text += ", ";
    text += fmt::format("{} x {}", model.cards_free, model.model);
  }
  return text;
}

// Why there is no place. Looks at every host, which a grant that goes well does not.
tl::unexpected<Error> no_capacity(const InventoryRows& rows, const std::vector<ModelSpace>& models,
                                  const Policy& policy, const GrantRequest& request) {
  const auto spaces = host_spaces(rows, request.shape.gpu_model, policy);
  int64_t disk = 0;
  bool host_known = !request.only_host;
  for (const HostSpace& space : spaces) {
    if (request.only_host && space.host != *request.only_host) continue;
    host_known = true;
    disk = std::max(disk, space.disk_free_bytes);
  }
  if (spaces.empty() || !host_known) {
    return fail(ErrorCode::no_capacity, Text{"no host is reachable now", "当前没有可用的主机"},
                Text{"try again in a minute", "请稍后再试"});
  }
  if (disk < request.new_disk_bytes) {
    return fail(ErrorCode::no_capacity,
                text("the disks need {}, and {} are left", "磁盘需要 {}，仅剩 {}",
                     for_people_bytes(request.new_disk_bytes),
                     for_people_bytes(std::max<int64_t>(disk, 0))),
                Text{"take a smaller data disk", "请选择较小的数据盘"});
  }
  if (request.shape.mode == Mode::no_gpu) {
    return fail(ErrorCode::no_capacity,
                Text{"all places for no-GPU runs are taken", "无卡模式名额已满"},
                Text{"try again later, or start with a card", "请稍后再试，或以有卡模式开机"});
  }
  const std::string free = free_models(models);
  return fail(ErrorCode::no_capacity,
              text("{} x {} on one host are not free", "没有一台主机有 {} 张空闲的 {}",
                   request.shape.gpu_count, request.shape.gpu_model),
              free.empty()
                  ? Text{"no card is free now; try again later", "当前没有空闲的卡，请稍后再试"}
                  : text("free now: {}", "当前空闲：{}", free));
}

CardShare shape_share(const Host& host, int cards_on_host, const Shape& shape,
                      const Policy& policy) {
  if (shape.mode == Mode::no_gpu) {
    return CardShare{policy.no_gpu_millicores, policy.no_gpu_memory_bytes};
  }
  const CardShare share = card_share(host, cards_on_host, policy);
  return CardShare{share.millicores * shape.gpu_count, share.memory_bytes * shape.gpu_count};
}

}  // namespace

Result<Shape> check_shape(const Deps& deps, const ShapeRequest& request) {
  Shape shape;
  shape.mode = request.mode;
  if (request.mode == Mode::no_gpu) {
    if (!request.gpu_model.empty()) {
      return invalid("gpu_model", Text{"a no-GPU run has no card", "无卡模式不能指定显卡"});
    }
    return shape;
  }
  if (request.gpu_count < 1 || request.gpu_count > limits::kCardsPerInstanceMax) {
    return invalid("gpu_count", text("an instance has 1 to {} cards", "每台实例可有 1 到 {} 张卡",
                                     limits::kCardsPerInstanceMax));
  }
  const GpuModel* model = deps.catalog.by_word(request.gpu_model);
  if (model == nullptr) {
    return invalid("gpu_model",
                   text("no GPU model \"{}\" (or it is ambiguous)", "没有型号“{}”（或名称不唯一）",
                        is_valid_utf8_text(request.gpu_model) ? request.gpu_model.substr(0, 40)
                                                              : std::string("?")),
                   text("known: {}", "可用型号：{}", deps.catalog.keys()));
  }
  shape.gpu_model = model->key;
  shape.gpu_count = request.gpu_count;
  return shape;
}

Result<ShapePrice> price_of(Tx& tx, const Shape& shape) {
  TRY_ASSIGN(std::vector<Price> rows, tx.hosts().prices());
  const auto per_hour = PriceBook(std::move(rows)).per_hour(shape.gpu_model, shape.mode);
  if (!per_hour) {
    return fail(ErrorCode::no_capacity,
                text("{} is not for rent here", "此处不出租 {}",
                     shape.mode == Mode::no_gpu ? "no-GPU" : shape.gpu_model),
                Text{"`cardhour offers` lists what is", "运行 `cardhour offers` 查看可租型号"});
  }
  return ShapePrice{*per_hour, shape.mode == Mode::no_gpu ? 1 : shape.gpu_count};
}

Status check_offered(Tx& tx, const Shape& shape) {
  if (shape.mode == Mode::no_gpu) return {};
  TRY_ASSIGN(const bool offered, tx.hosts().has_model(shape.gpu_model));
  if (offered) return {};
  TRY_ASSIGN(const auto models, tx.hosts().models());
  std::string there;
  for (const ModelSpace& model : models) there += (there.empty() ? "" : ", ") + model.model;
  return fail(ErrorCode::no_capacity,
              text("no host here has a {}", "此处没有配备 {} 的主机", shape.gpu_model),
              there.empty() ? Text{"no host has a card at all", "目前没有任何主机配备显卡"}
                            : text("there are: {}", "现有型号：{}", there));
}

Money hold_for(const ShapePrice& price, const Policy& policy) {
  return due(Rate{price.rate_per_hour, hours(1)}, price.quantity, policy.hold);
}

Money needed_for(const Funds& funds, const ShapePrice& price,
                 const std::optional<InstanceId>& replaces) {
  Money burn = price.burn();
  for (const Segment& segment : funds.open) {
    if (replaces && segment.instance_id == *replaces) continue;
    burn += segment.rate_per_hour * segment.quantity;
  }
  return burn;  // of one hour
}

Result<std::optional<Place>> find_place(Tx& tx, const GrantRequest& request, const Policy& policy) {
  const PlacementRequest wanted{request.shape.gpu_count, request.new_disk_bytes, request.only_host};
  TRY_ASSIGN(const auto space, tx.hosts().best_space(SpaceWanted{wanted, request.shape.gpu_model,
                                                                 no_gpu_slots(policy)}));
  if (!space) return std::optional<Place>();
  const auto placement = place(wanted, {*space});
  if (!placement) return std::optional<Place>();
  TRY_ASSIGN(const auto host, tx.hosts().find(placement->host));
  CHECK(host.has_value(), "a placement is on a host");
  return Place{*placement, shape_share(*host, space->cards_total, request.shape, policy)};
}

Result<Grant> grant(Tx& tx, const Deps& deps, const GrantRequest& request, Timestamp now) {
  if (!deps.first_look->is_done()) {
    return fail(ErrorCode::engine_unavailable,
                Text{"the server has just started and has not seen yet what runs",
                     "服务刚启动，尚未确认正在运行的实例"},
                Text{"try again in a few seconds", "请稍后几秒再试"});
  }
  TRY_ASSIGN(const auto account, tx.accounts().find(request.account));
  if (!account || account->state != AccountState::active) {
    return fail(ErrorCode::forbidden, Text{"this account is suspended", "该账户已被停用"});
  }
  TRY(check_quotas(tx, deps.policy, request));

  Grant granted;
  TRY(check_offered(tx, request.shape));
  TRY_ASSIGN(granted.price, price_of(tx, request.shape));
  TRY_ASSIGN(const Funds funds, load_funds(tx, request.account));
  const Money needed = needed_for(funds, granted.price, request.replaces);
  const Money available = funds.available(now);
  if (available < needed) {
    const Currency& currency = deps.policy.currency;
    return fail(ErrorCode::insufficient_balance,
                text("available are {}, and one hour of all that runs needs {}: {} are missing",
                     "可用余额 {}，而全部运行一小时需要 {}：还差 {}", format(currency, available),
                     format(currency, needed), format(currency, needed - available)),
                Text{"top up, or stop something", "请充值，或先关闭其他实例"});
  }
  TRY_ASSIGN(const std::optional<Place> found, find_place(tx, request, deps.policy));
  if (!found) {
    TRY_ASSIGN(const InventoryRows rows, load_inventory(tx));
    TRY_ASSIGN(const auto models, tx.hosts().models());
    return no_capacity(rows, models, deps.policy, request);
  }
  granted.placement = found->placement;
  granted.share = found->share;
  return granted;
}

}  // namespace cardhour
