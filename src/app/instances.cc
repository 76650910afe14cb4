#include "app/instances.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "app/claims.h"
#include "app/events.h"
#include "app/grants.h"
#include "app/idempotency.h"
#include "app/runs.h"
#include "app/secrets.h"
#include "base/check.h"
#include "base/enum_text.h"
#include "base/limits.h"

namespace cardhour {
namespace {

tl::unexpected<Error> no_instance() {
  return fail(ErrorCode::not_found, Text{"no such instance", "没有该实例"},
              Text{"`cardhour ls` lists yours", "运行 `cardhour ls` 查看您的实例"});
}

tl::unexpected<Error> wrong_state(const Instance& instance, const Text& next) {
  return fail(
      ErrorCode::conflict,
      text("the instance is {}", "实例当前状态为 {}", std::string(enum_text(instance.observed))),
      next);
}

// The instance that an id or a name means to this actor; another account's is not found.
Result<Instance> load(Tx& tx, const Actor& actor, const std::string& id_or_name) {
  if (is_id_text(InstanceTag::kPrefix, id_or_name)) {
    TRY_ASSIGN(const auto found, tx.instances().find(InstanceId{id_or_name}));
    const bool visible = found && (found->account_id == actor.account ||
                                   (actor.role == Role::admin && actor.scopes.admin));
    if (visible) return *found;
  }
  if (id_or_name.size() > limits::kNameBytes || !is_valid_utf8_text(id_or_name)) {
    return no_instance();
  }
  TRY_ASSIGN(const auto named, tx.instances().find_named(actor.account, id_or_name));
  if (named.empty()) return no_instance();
  if (named.size() > 1) {
    return fail(
        ErrorCode::conflict,
        text("{} of your instances have this name", "您有 {} 台实例使用此名称", named.size()),
        Text{"use the id", "请使用实例 ID"});
  }
  return named.front();
}

// What was adopted starts again only as its renter's.
Status check_decided(Tx& tx, const Instance& instance) {
  TRY_ASSIGN(const auto adoption, tx.restores().find_adoption(instance.id));
  if (!adoption) return {};
  return fail(ErrorCode::conflict,
              Text{"the operator has yet to decide about this instance", "该实例尚待运营者决定"},
              Text{"ask the operator; stopping and releasing it is possible",
                   "请联系运营者；您可以关机或释放"});
}

// What the key of this request made before, if it did.
Result<std::optional<Instance>> replayed(const Deps& deps, const Actor& actor,
                                         const Idempotency& idempotency) {
  std::optional<Instance> instance;
  TRY(deps.store.read([&](Tx& tx) -> Status {
    TRY_ASSIGN(const std::string earlier, recall(tx, actor.account, idempotency));
    if (earlier.empty()) return {};
    TRY_ASSIGN(instance, load(tx, actor, earlier));
    return {};
  }));
  return instance;
}

Status check_data_disk(const Policy& policy, int64_t bytes) {
  if (bytes == 0) return {};
  if (bytes < policy.data_disk_bytes_min || bytes > policy.data_disk_bytes_max) {
    return invalid("data_disk_bytes", text("a data disk has {} to {}", "数据盘大小为 {} 到 {}",
                                           for_people_bytes(policy.data_disk_bytes_min),
                                           for_people_bytes(policy.data_disk_bytes_max)));
  }
  return {};
}

Status check_image(const std::vector<std::string>& images, const std::string& image) {
  if (std::find(images.begin(), images.end(), image) != images.end()) return {};
  std::string known;
  for (const std::string& name : images) known += (known.empty() ? "" : ", ") + name;
  return invalid("image",
                 text("no image \"{}\"", "没有镜像“{}”",
                      is_valid_utf8_text(image) ? image.substr(0, 60) : std::string("?")),
                 text("there are: {}", "可用镜像：{}", known));
}

// Host ports that no instance has and no foreign process holds at the moment. The host is
// asked here, before the transaction.
Result<std::vector<int>> bindable_ports(const Deps& deps, const std::set<int64_t>& taken) {
  constexpr size_t kCandidates = 4;
  std::vector<int> ports;
  for (int port = deps.network.ssh_ports.first;
       port <= deps.network.ssh_ports.last && ports.size() < kCandidates; ++port) {
    if (taken.contains(port)) continue;
    TRY_ASSIGN(const bool free, deps.engine.port_is_free(port));
    if (free) ports.push_back(port);
  }
  return ports;
}

Status claim_port(Tx& tx, Instance& instance, const std::vector<int>& candidates) {
  for (const int port : candidates) {
    const Status claimed =
        tx.hosts().insert_claim(Claim{instance.host_id, ClaimKind::ssh_port, port, instance.id});
    if (!claimed && claimed.error().code == ErrorCode::conflict) continue;  // taken meanwhile
    instance.ssh_port = port;
    return claimed;
  }
  return fail(ErrorCode::no_capacity,
              Text{"no SSH port is free on the host now", "主机上暂时没有可用的 SSH 端口"},
              Text{"try again", "请重试"});
}

Status allocate(Tx& tx, const Deps& deps, const Instance& instance,
                const std::vector<CardId>& cards, Timestamp now) {
  for (const CardId& card : cards) {
    TRY(tx.hosts().insert_allocation(
        Allocation{deps.entropy.id<AllocationId>(), card, instance.id, now, std::nullopt}));
  }
  return {};
}

// The new run of an instance: shape, frozen price, hold. The caller moves the lifecycle.
Status begin_run(Tx& tx, const Deps& deps, Instance& instance, const Shape& shape,
                 const Grant& granted, Timestamp now, const std::string& actor) {
  CHECK(instance.held == Money{}, "one hold at a time");
  instance.desired = Desired::running;
  instance.mode = shape.mode;
  instance.gpu_model = shape.gpu_model;
  instance.gpu_count = shape.gpu_count;
  instance.millicores = granted.share.millicores;
  instance.memory_bytes = granted.share.memory_bytes;
  instance.run_id = deps.entropy.id<RunId>();
  instance.rate_per_hour = granted.price.rate_per_hour;
  instance.stopped_at.reset();
  clear_fault(instance);
  TRY(allocate(tx, deps, instance, granted.placement.cards, now));
  const Money hold = hold_for(granted.price, deps.policy);
  if (hold == Money{}) return {};
  LedgerTransaction head = transaction_head(deps, instance.account_id, now, actor);
  head.instance_id = instance.id;
  TRY(tx.ledger().append(hold_entry(std::move(head), hold)));
  instance.held = hold;
  return settle_soon(tx, instance.account_id, now);
}

std::string shape_detail(const Instance& instance) {
  if (instance.mode == Mode::no_gpu) {
    return "mode=no_gpu rate=" + to_decimal(instance.rate_per_hour);
  }
  return fmt::format("mode={} gpu={} count={} rate={}", enum_text(instance.mode),
                     instance.gpu_model, instance.gpu_count, to_decimal(instance.rate_per_hour));
}

Quote quote_of(const Deps& deps, const Shape& shape, const ShapePrice& price) {
  Quote quote;
  quote.gpu_model = shape.gpu_model;
  quote.gpu_count = shape.gpu_count;
  quote.mode = shape.mode;
  quote.rate_per_hour = price.burn();
  quote.hold = hold_for(price, deps.policy);
  quote.minimum_unit = deps.policy.minimum_unit;
  return quote;
}

// The free cards of the model on the best host, or on the one that it must be.
Status count_free(Tx& tx, const Deps& deps, const GrantRequest& request, Quote& quote) {
  if (request.shape.mode == Mode::no_gpu) return {};
  TRY_ASSIGN(const auto models, tx.hosts().models());
  for (const ModelSpace& model : models) {
    if (model.model != request.shape.gpu_model) continue;
    quote.cards_free = model.cards_free;
    quote.simulated = model.simulated;
  }
  if (!request.only_host) return {};
  const PlacementRequest one{1, 0, request.only_host};
  TRY_ASSIGN(const auto space, tx.hosts().best_space(SpaceWanted{one, request.shape.gpu_model,
                                                                 no_gpu_slots(deps.policy)}));
  quote.cards_free = space ? static_cast<int>(space->free_cards.size()) : 0;
  return {};
}

// What a start would cost and whether it could be granted now.
Status fill_quote(Tx& tx, const Deps& deps, const GrantRequest& request, Quote& quote) {
  const Timestamp now = deps.clock.now();
  TRY(check_offered(tx, request.shape));
  TRY_ASSIGN(const ShapePrice price, price_of(tx, request.shape));
  TRY_ASSIGN(const Funds funds, load_funds(tx, request.account));
  quote = quote_of(deps, request.shape, price);
  quote.available = funds.available(now);
  quote.needed = needed_for(funds, price, request.replaces);
  quote.affordable = quote.available >= quote.needed;
  TRY(count_free(tx, deps, request, quote));
  TRY_ASSIGN(const std::optional<Place> found, find_place(tx, request, deps.policy));
  quote.placeable = found.has_value();
  if (found) {
    quote.millicores = found->share.millicores;
    quote.memory_bytes = found->share.memory_bytes;
  }
  return {};
}

// What its list and its page show.
InstanceView view_of(InstanceOverview overview, Timestamp now) {
  InstanceView view;
  view.activity = std::move(overview.step);
  const bool both = !overview.last_error_zh.empty();  // not in rows of older versions
  view.waiting_for = Text{overview.last_error, both ? overview.last_error_zh : overview.last_error};
  view.cards = std::move(overview.cards);
  view.simulated = overview.simulated;
  view.cost_so_far = overview.closed_cost;
  for (const Segment& segment : overview.open) {
    view.cost_so_far += segment_due(segment, now);
    view.burn_per_hour += segment.rate_per_hour * segment.quantity;
  }
  view.owner = std::move(overview.owner);
  view.instance = std::move(overview.instance);
  return view;
}

// An operator's act on somebody else's instance is not the renter's own.
Cause cause_of(const Instance& instance, const Actor& actor) {
  return instance.account_id == actor.account ? Cause::renter : Cause::admin;
}

std::string default_name(const Shape& shape, const InstanceId& id) {
  const std::string base = shape.mode == Mode::no_gpu ? "no-gpu" : shape.gpu_model;
  return base + "-" + id.text.substr(1, 4);
}

}  // namespace

Result<Quote> Instances::quote(const AccountId& account, const RentRequest& request) {
  TRY_ASSIGN(const Shape shape, check_shape(deps_, request.shape));
  TRY(check_data_disk(deps_.policy, request.data_disk_bytes));
  Quote quote;
  const int64_t data =
      request.data_disk_bytes > 0 ? request.data_disk_bytes : deps_.policy.data_disk_bytes;
  GrantRequest wanted;
  wanted.account = account;
  wanted.shape = shape;
  wanted.new_disk_bytes = deps_.policy.system_disk_bytes + data;
  TRY(deps_.store.read([&](Tx& tx) { return fill_quote(tx, deps_, wanted, quote); }));
  quote.system_disk_bytes = deps_.policy.system_disk_bytes;
  quote.data_disk_bytes = data;
  return quote;
}

Result<Quote> Instances::start_quote(const Actor& actor, const std::string& id,
                                     const ShapeRequest& request) {
  TRY_ASSIGN(const Shape shape, check_shape(deps_, request));
  Quote quote;
  TRY(deps_.store.read([&](Tx& tx) -> Status {
    TRY_ASSIGN(const Instance instance, load(tx, actor, id));
    GrantRequest wanted;
    wanted.account = instance.account_id;
    wanted.shape = shape;
    wanted.only_host = instance.host_id;
    wanted.replaces = instance.id;
    TRY(fill_quote(tx, deps_, wanted, quote));
    quote.system_disk_bytes = instance.system_disk_bytes;
    quote.data_disk_bytes = instance.data_disk_bytes;
    return {};
  }));
  return quote;
}

Result<Instance> Instances::rent(const Actor& actor, const RentRequest& request,
                                 const Idempotency& idempotency) {
  TRY_ASSIGN(const Shape shape, check_shape(deps_, request.shape));
  TRY(check_data_disk(deps_.policy, request.data_disk_bytes));
  Instance instance;
  instance.id = deps_.entropy.id<InstanceId>();
  TRY_ASSIGN(instance.name,
             normalize_name(
                 "name", request.name.empty() ? default_name(shape, instance.id) : request.name));
  if (request.purpose.size() > limits::kNoteBytes || !is_valid_utf8_text(request.purpose)) {
    return invalid("purpose", Text{"the purpose is at most 500 bytes of UTF-8 text",
                                   "用途说明最多 500 字节的 UTF-8 文本"});
  }
  // A repeated request needs no engine: it gets the first answer.
  TRY_ASSIGN(std::optional<Instance> first, replayed(deps_, actor, idempotency));
  if (first) return std::move(*first);
  std::vector<std::string> images;
  std::set<int64_t> taken_ports;
  TRY(deps_.store.read([&](Tx& tx) -> Status {
    TRY_ASSIGN(images, known_images(tx));
    TRY_ASSIGN(const auto numbers, tx.hosts().claimed_numbers(ClaimKind::ssh_port));
    taken_ports.insert(numbers.begin(), numbers.end());
    return {};
  }));
  TRY(check_image(images, request.image));
  TRY_ASSIGN(const std::vector<int> ports, bindable_ports(deps_, taken_ports));

  instance.account_id = actor.account;
  instance.image = request.image;
  instance.purpose = request.purpose;
  instance.nesting = request.nesting;
  instance.system_disk_bytes = deps_.policy.system_disk_bytes;
  instance.data_disk_bytes =
      request.data_disk_bytes > 0 ? request.data_disk_bytes : deps_.policy.data_disk_bytes;
  const Instance blank = instance;

  TRY(deps_.store.write([&](Tx& tx) -> Status {
    instance = blank;  // the store may run the body again
    const Timestamp now = deps_.clock.now();
    TRY_ASSIGN(const std::string earlier, recall(tx, actor.account, idempotency));
    if (!earlier.empty()) {
      TRY_ASSIGN(instance, load(tx, actor, earlier));
      return {};
    }
    GrantRequest wanted;
    wanted.account = actor.account;
    wanted.shape = shape;
    wanted.new_disk_bytes = instance.system_disk_bytes + instance.data_disk_bytes;
    wanted.new_instance = true;
    TRY_ASSIGN(const Grant granted, grant(tx, deps_, wanted, now));
    instance.host_id = granted.placement.host;
    instance.created_at = now;
    instance.observed = Observed::creating;
    TRY(make_identity(tx, deps_, instance));
    TRY(claim_port(tx, instance, ports));
    TRY(claim_address(tx, deps_.network, instance));
    TRY(begin_run(tx, deps_, instance, shape, granted, now, actor.name));
    TRY(tx.instances().insert(instance));
    TRY(ensure_operation(tx, deps_, instance, OperationKind::start, now));
    TRY(record(tx, instance, now, "instance.creating", actor.name, "renter",
               shape_detail(instance)));
    return remember(tx, actor.account, idempotency, instance.id.text, now);
  }));
  deps_.changed();
  return instance;
}

Result<Instance> Instances::start(const Actor& actor, const std::string& id,
                                  const ShapeRequest& request, const Idempotency& idempotency) {
  TRY_ASSIGN(const Shape shape, check_shape(deps_, request));
  Instance instance;
  TRY(deps_.store.write([&](Tx& tx) -> Status {
    const Timestamp now = deps_.clock.now();
    TRY_ASSIGN(instance, load(tx, actor, id));
    TRY_ASSIGN(const std::string earlier, recall(tx, actor.account, idempotency));
    if (!earlier.empty()) return {};
    TRY(check_decided(tx, instance));
    const bool same = instance.run_id && instance.mode == shape.mode &&
                      instance.gpu_model == shape.gpu_model &&
                      instance.gpu_count == shape.gpu_count;
    if (same && instance.desired == Desired::running) return {};
    const bool switching = instance.observed == Observed::running &&
                           instance.mode == Mode::no_gpu && shape.mode != Mode::no_gpu;
    if (instance.observed != Observed::stopped && !switching) {
      return wrong_state(
          instance,
          instance.observed == Observed::in_bin
              ? Text{"`cardhour restore` it first", "请先运行 `cardhour restore` 恢复"}
              : Text{"stop it first, and wait until it is stopped", "请先关机并等待其停止"});
    }
    GrantRequest wanted;
    wanted.account = instance.account_id;
    wanted.shape = shape;
    wanted.only_host = instance.host_id;
    wanted.replaces = instance.id;
    // The no-GPU run is paid first, so that the balance that is granted on is what is left; a
    // refusal undoes it, and the run goes on.
    if (switching) TRY(close_segments(tx, deps_, instance, now, Cause::renter, actor.name));
    TRY_ASSIGN(const Grant granted, grant(tx, deps_, wanted, now));
    if (switching) {
      instance.ready_at.reset();
      instance.engine_run.clear();
      advance(instance, LifecycleEvent::switch_shape);
    } else {
      advance(instance, LifecycleEvent::start);
    }
    TRY(begin_run(tx, deps_, instance, shape, granted, now, actor.name));
    TRY(ensure_operation(tx, deps_, instance, OperationKind::start, now));
    TRY(tx.instances().update(instance));
    TRY(record(tx, instance, now, "instance.starting", actor.name, "renter",
               shape_detail(instance)));
    return remember(tx, actor.account, idempotency, instance.id.text, now);
  }));
  deps_.changed();
  return instance;
}

Result<Instance> Instances::restart(const Actor& actor, const std::string& id) {
  Instance instance;
  TRY(deps_.store.write([&](Tx& tx) -> Status {
    const Timestamp now = deps_.clock.now();
    TRY_ASSIGN(instance, load(tx, actor, id));
    if (instance.observed != Observed::running) {
      return wrong_state(instance, Text{"`cardhour start` starts a stopped one",
                                        "已停止的实例请用 `cardhour start` 开机"});
    }
    TRY(ensure_operation(tx, deps_, instance, OperationKind::restart, now));
    TRY(tx.instances().update(instance));
    return record(tx, instance, now, "instance.restarting", actor.name, "renter");
  }));
  deps_.changed();
  return instance;
}

Result<Instance> Instances::stop(const Actor& actor, const std::string& id) {
  Instance instance;
  TRY(deps_.store.write([&](Tx& tx) -> Status {
    const Timestamp now = deps_.clock.now();
    TRY_ASSIGN(instance, load(tx, actor, id));
    if (!next_state(instance.observed, LifecycleEvent::stop)) return {};  // stopped or on the way
    const Cause cause = cause_of(instance, actor);
    return order_stop(tx, deps_, instance,
                      StopOrder{LifecycleEvent::stop, Desired::stopped, cause, now, actor.name, ""},
                      now);
  }));
  deps_.changed();
  return instance;
}

namespace {

// Release in any state; `desired` is released or purged.
Status release_in(Tx& tx, const Deps& deps, Instance& instance, Desired desired, const Actor& by,
                  Timestamp now) {
  const std::string& actor = by.name;
  const Cause cause = cause_of(instance, by);
  const std::string reason(enum_text(cause));
  if (instance.observed == Observed::stopped) {
    advance(instance, LifecycleEvent::release);
    instance.desired = desired;
    instance.bin_until = now + deps.policy.bin;
    TRY(tx.instances().update(instance));
    TRY(record(tx, instance, now, "instance.in_bin", actor, reason,
               "until=" + to_rfc3339(*instance.bin_until)));
  } else if (next_state(instance.observed, LifecycleEvent::release)) {
    TRY(order_stop(tx, deps, instance,
                   StopOrder{LifecycleEvent::release, desired, cause, now, actor, ""}, now));
  } else if (instance.desired != Desired::purged && instance.desired != desired) {
    instance.desired = desired;  // releasing or in the bin already: may still become a purge
    TRY(tx.instances().update(instance));
  }
  if (instance.observed == Observed::in_bin && instance.desired == Desired::purged) {
    TRY(ensure_operation(tx, deps, instance, OperationKind::purge, now));
    TRY(record(tx, instance, now, "instance.purging", actor, reason));
  }
  return {};
}

}  // namespace

Result<Instance> Instances::release(const Actor& actor, const std::string& id) {
  Instance instance;
  TRY(deps_.store.write([&](Tx& tx) -> Status {
    TRY_ASSIGN(instance, load(tx, actor, id));
    return release_in(tx, deps_, instance, Desired::released, actor, deps_.clock.now());
  }));
  deps_.changed();
  return instance;
}

Result<Instance> Instances::purge(const Actor& actor, const std::string& id,
                                  const std::string& confirm_name) {
  Instance instance;
  TRY(deps_.store.write([&](Tx& tx) -> Status {
    TRY_ASSIGN(instance, load(tx, actor, id));
    if (instance.name != confirm_name) {
      return invalid(
          "confirm_name",
          Text{"the name typed is not the name of this instance", "输入的名称与实例名称不一致"},
          Text{"purging destroys its disks for good: type the name exactly",
               "彻底删除将永久销毁磁盘：请准确输入实例名称"});
    }
    return release_in(tx, deps_, instance, Desired::purged, actor, deps_.clock.now());
  }));
  deps_.changed();
  return instance;
}

Result<Instance> Instances::restore(const Actor& actor, const std::string& id) {
  Instance instance;
  TRY(deps_.store.write([&](Tx& tx) -> Status {
    const Timestamp now = deps_.clock.now();
    TRY_ASSIGN(instance, load(tx, actor, id));
    if (instance.observed == Observed::purged || instance.desired == Desired::purged) {
      return wrong_state(instance, Text{"it is gone for good", "该实例已被彻底删除"});
    }
    if (!next_state(instance.observed, LifecycleEvent::restore)) return {};  // not in the bin
    advance(instance, LifecycleEvent::restore);
    instance.desired = Desired::stopped;
    instance.bin_until.reset();
    if (instance.observed == Observed::stopped) instance.stopped_at = now;
    TRY(tx.instances().update(instance));
    return record(tx, instance, now, "instance.restored", actor.name, "renter");
  }));
  deps_.changed();
  return instance;
}

Result<Instance> Instances::rename(const Actor& actor, const std::string& id,
                                   const std::string& name) {
  TRY_ASSIGN(const std::string clean, normalize_name("name", name));
  Instance instance;
  TRY(deps_.store.write([&](Tx& tx) -> Status {
    TRY_ASSIGN(instance, load(tx, actor, id));
    instance.name = clean;
    TRY(tx.instances().update(instance));
    return record(tx, instance, deps_.clock.now(), "instance.renamed", actor.name, "renter");
  }));
  deps_.changed();
  return instance;
}

Result<InstanceView> Instances::get(const Actor& actor, const std::string& id_or_name) {
  InstanceView view;
  TRY(deps_.store.read([&](Tx& tx) -> Status {
    TRY_ASSIGN(const Instance instance, load(tx, actor, id_or_name));
    InstanceFilter one;
    one.id = instance.id;
    TRY_ASSIGN(auto found, tx.instances().overviews(one, {}));
    CHECK(found.size() == 1, "instances are never deleted");
    view = view_of(std::move(found.front()), deps_.clock.now());
    return {};
  }));
  return view;
}

Result<std::vector<InstanceView>> Instances::page(const Actor& actor, const InstanceFilter& filter,
                                                  const Page& page) {
  InstanceFilter own = filter;
  if (!(actor.role == Role::admin && actor.scopes.admin)) own.account = actor.account;
  std::vector<InstanceView> views;
  TRY(deps_.store.read([&](Tx& tx) -> Status {
    TRY_ASSIGN(auto rows, tx.instances().overviews(own, page));
    const Timestamp now = deps_.clock.now();
    for (InstanceOverview& row : rows) views.push_back(view_of(std::move(row), now));
    return {};
  }));
  return views;
}

Result<Connection> Instances::connection(const Actor& actor, const std::string& id) {
  Instance instance;
  TRY(deps_.store.read([&](Tx& tx) -> Status {
    TRY_ASSIGN(instance, load(tx, actor, id));
    return {};
  }));
  if (deps_.network.ssh_address.empty()) {
    return fail(ErrorCode::conflict,
                Text{"the simulated engine has no shell", "模拟引擎没有可登录的 shell"});
  }
  if (instance.secrets_sealed.empty()) {
    return fail(ErrorCode::conflict,
                Text{"its password and host key are not known until the operator has decided",
                     "在运营者决定之前，无法得知其密码与主机密钥"});
  }
  if (instance.account_id != actor.account) {
    return fail(ErrorCode::forbidden,
                Text{"only its renter may log in to it", "只有租用者可以登录该实例"});
  }
  TRY_ASSIGN(InstanceSecrets secrets, unseal_secrets(deps_, instance.secrets_sealed));
  Connection connection;
  connection.host = deps_.network.ssh_address;
  connection.port = instance.ssh_port;
  connection.password = std::move(secrets.password);
  connection.host_key_fingerprint = instance.host_key_fingerprint;
  connection.host_key_line = std::move(secrets.host_key_public);
  return connection;
}

Status Instances::guest_shutdown(const Actor& guest, ShutdownKind kind) {
  CHECK(guest.instance.has_value(), "only a guest reports a shutdown");
  TRY(deps_.store.write([&](Tx& tx) -> Status {
    const Timestamp now = deps_.clock.now();
    TRY_ASSIGN(auto instance, tx.instances().find(*guest.instance));
    if (!instance) return no_instance();
    if (instance->observed != Observed::running) return {};  // our own stop, most likely
    TRY_ASSIGN(const auto operation, tx.instances().pending_operation(instance->id));
    if (operation && operation->kind == OperationKind::restart) return {};  // our own restart
    if (kind == ShutdownKind::reboot) {
      return record(tx, *instance, now, "instance.rebooting", guest.name, "guest_shutdown");
    }
    return order_stop(tx, deps_, *instance,
                      StopOrder{LifecycleEvent::stop, Desired::stopped, Cause::guest_shutdown, now,
                                guest.name, ""},
                      now);
  }));
  deps_.changed();
  return {};
}

}  // namespace cardhour
