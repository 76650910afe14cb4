#include "app/grants.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

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

Status check_quotas(const InventoryRows& rows, const Policy& policy, const GrantRequest& request) {
  int total = 0;
  int running = 0;
  int cards = 0;
  for (const Instance& instance : rows.instances) {
    if (instance.account_id != request.account) continue;
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

// The models that could carry as many cards, for the error that says what is free.
std::string free_models(const InventoryRows& rows, const Policy& policy) {
  std::set<std::string> models;
  for (const Card& card : rows.cards) models.insert(card.model);
  std::string text;
  for (const std::string& model : models) {
    size_t free = 0;
    for (const HostSpace& space : host_spaces(rows, model, policy)) {
      free = std::max(free, space.free_cards.size());
    }
    if (free == 0) continue;
    if (!text.empty()) text += ", ";
    text += fmt::format("{} x {}", free, model);
  }
  return text;
}

tl::unexpected<Error> no_capacity(const InventoryRows& rows, const Policy& policy,
                                  const GrantRequest& request,
                                  const std::vector<HostSpace>& spaces) {
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
  const std::string free = free_models(rows, policy);
  return fail(ErrorCode::no_capacity,
              text("{} x {} on one host are not free", "没有一台主机有 {} 张空闲的 {}",
                   request.shape.gpu_count, request.shape.gpu_model),
              free.empty()
                  ? Text{"no card is free now; try again later", "当前没有空闲的卡，请稍后再试"}
                  : text("free now: {}", "当前空闲：{}", free));
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

Status check_offered(const InventoryRows& rows, const Shape& shape) {
  if (shape.mode == Mode::no_gpu) return {};
  std::set<std::string> models;
  for (const Card& card : rows.cards) {
    if (card.present) models.insert(card.model);
  }
  if (models.contains(shape.gpu_model)) return {};
  std::string there;
  for (const std::string& model : models) there += (there.empty() ? "" : ", ") + model;
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

CardShare shape_share(const InventoryRows& rows, const HostId& host, const Shape& shape,
                      const Policy& policy) {
  if (shape.mode == Mode::no_gpu) {
    return CardShare{policy.no_gpu_millicores, policy.no_gpu_memory_bytes};
  }
  CardShare share;
  int cards = 0;
  for (const Card& card : rows.cards) cards += card.host_id == host ? 1 : 0;
  for (const Host& row : rows.hosts) {
    if (row.id == host) share = card_share(row, cards, policy);
  }
  return CardShare{share.millicores * shape.gpu_count, share.memory_bytes * shape.gpu_count};
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
  TRY_ASSIGN(const InventoryRows rows, load_inventory(tx));
  TRY(check_quotas(rows, deps.policy, request));

  Grant granted;
  TRY(check_offered(rows, request.shape));
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
  const auto spaces = host_spaces(rows, request.shape.gpu_model, deps.policy);
  const auto placement = place(
      PlacementRequest{request.shape.gpu_count, request.new_disk_bytes, request.only_host}, spaces);
  if (!placement) return no_capacity(rows, deps.policy, request, spaces);
  granted.placement = *placement;
  granted.share = shape_share(rows, placement->host, request.shape, deps.policy);
  return granted;
}

}  // namespace cardhour
