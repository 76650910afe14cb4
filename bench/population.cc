#include "bench/population.h"

#include <fmt/format.h>

#include "base/check.h"

namespace cardhour::bench {
namespace {

constexpr size_t kRowsPerTransaction = 5'000;
constexpr Duration kRunsSince = minutes(50);

void add_host(Population& to, Entropy& entropy, Timestamp now, int number, int cards) {
  Host host;
  host.id = entropy.id<HostId>();
  host.name = fmt::format("sim-{}", number + 1);
  host.cpu_total = 64;
  host.memory_bytes = 256 * kGiB;
  host.pool_total_bytes = int64_t{1} << 52;  // disks are not what is measured
  host.driver_version = "550.54.14";
  host.cuda_version = "12.4";
  host.last_seen_at = now;
  for (int i = 0; i < cards; ++i) {
    Card card;
    const auto index = static_cast<int>(to.cards.size());
    card.uuid = CardId{fmt::format("GPU-{:08x}-0000-0000-0000-000000000000", index + 1)};
    card.host_id = host.id;
    card.model = "RTX4090";
    card.driver_name = "NVIDIA GeForce RTX 4090";
    card.pci_address = fmt::format("{:04x}:{:02x}:00.0", i / 256, i % 256);
    card.card_index = i;
    card.vram_bytes = 24 * kGiB;
    card.numa_node = i % 8 / 4;
    card.simulated = true;
    to.cards.push_back(std::move(card));
  }
  to.hosts.push_back(std::move(host));
}

LedgerEntry topup(Entropy& entropy, Timestamp now, const AccountId& account) {
  LedgerTransaction head;
  head.id = entropy.id<TransactionId>();
  head.account_id = account;
  head.at = now - days(1);
  head.actor = "operator";
  return topup_entry(std::move(head), Money{1'000'000'000'000});
}

Segment open_segment_of(Entropy& entropy, const Instance& instance, const CardId& card) {
  Segment segment;
  segment.id = entropy.id<SegmentId>();
  segment.account_id = instance.account_id;
  segment.instance_id = instance.id;
  segment.run_id = *instance.run_id;
  segment.meter = instance.mode == Mode::no_gpu ? Meter::no_gpu : Meter::on_demand;
  segment.rate_per_hour = instance.rate_per_hour;
  segment.unit = seconds(1);
  segment.opened_at = *instance.ready_at;
  segment.booked_until = segment.opened_at;
  segment.gpu_model = instance.gpu_model;
  segment.card_uuids = card.text;
  return segment;
}

void start(Population& to, Entropy& entropy, Timestamp now, Instance& instance) {
  const size_t number = to.allocations.size();
  CardId card;
  if (number < to.cards.size()) {
    card = to.cards[number].uuid;
    instance.host_id = to.cards[number].host_id;
    to.allocations.push_back(
        Allocation{entropy.id<AllocationId>(), card, instance.id, now - kRunsSince, std::nullopt});
  } else {
    instance.mode = Mode::no_gpu;
    instance.gpu_model.clear();
    instance.gpu_count = 0;
    instance.rate_per_hour = Money{100'000};
  }
  instance.run_id = entropy.id<RunId>();
  instance.ready_at = now - kRunsSince;
  to.segments.push_back(open_segment_of(entropy, instance, card));
}

void add_instance(Population& to, Entropy& entropy, Timestamp now, const AccountId& account,
                  Observed state) {
  const auto number = static_cast<int>(to.instances.size());
  Instance instance;
  instance.id = entropy.id<InstanceId>();
  instance.account_id = account;
  instance.name = fmt::format("RTX4090-{}", number);
  instance.image = "base";
  instance.purpose = "training";
  instance.host_id = to.hosts[static_cast<size_t>(number) % to.hosts.size()].id;
  instance.desired = state == Observed::running ? Desired::running : Desired::stopped;
  instance.observed = state;
  instance.gpu_model = "RTX4090";
  instance.gpu_count = 1;
  instance.millicores = 7'000;
  instance.memory_bytes = 31 * kGiB;
  instance.system_disk_bytes = 30 * kGiB;
  instance.data_disk_bytes = 50 * kGiB;
  instance.ssh_port = 22'000 + number % 8'000;
  instance.ipv4 = fmt::format("10.177.{}.{}", 1 + number / 256 % 250, number % 256);
  instance.idmap_base = 1'000'000 + int64_t{65'536} * number;
  instance.host_key_fingerprint = "SHA256:" + std::string(43, 'x');
  instance.secrets_sealed = std::string(800, 's');  // as long as real ones
  instance.rate_per_hour = Money{1'980'000};
  instance.created_at = now - hours(1) - minutes(number);
  if (state == Observed::running) start(to, entropy, now, instance);
  Operation operation;
  operation.id = entropy.id<OperationId>();
  operation.instance_id = instance.id;
  operation.step = Step::verify;
  operation.state = OperationState::done;
  operation.created_at = operation.not_before = instance.created_at;
  to.operations.push_back(std::move(operation));
  to.instances.push_back(std::move(instance));
}

// The rows of one kind, in transactions of bounded size.
template <class Row, class Insert>
void insert_rows(Store& store, const std::vector<Row>& rows, Insert insert_row) {
  for (size_t begin = 0; begin < rows.size(); begin += kRowsPerTransaction) {
    const size_t end = std::min(begin + kRowsPerTransaction, rows.size());
    const Status inserted = store.write([&](Tx& tx) -> Status {
      for (size_t i = begin; i < end; ++i) TRY(insert_row(tx, rows[i]));
      return {};
    });
    CHECK(inserted.has_value(), inserted ? "" : inserted.error().what.en);
  }
}

}  // namespace

Population make_population(Entropy& entropy, Timestamp now, const PopulationOptions& options) {
  Population made;
  for (int i = 0; i < options.hosts; ++i) {
    add_host(made, entropy, now, i, options.cards_per_host);
  }
  for (int i = 0; i < options.accounts; ++i) {
    Account account;
    account.id = entropy.id<AccountId>();
    account.login = fmt::format("renter{}", i + 1);
    account.password_hash = "none";
    account.created_at = now - days(30);
    made.topups.push_back(topup(entropy, now, account.id));
    for (int n = 0; n < options.instances_per_account; ++n) {
      add_instance(made, entropy, now, account.id, options.state);
    }
    const bool burns = options.instances_per_account > 0 && options.state == Observed::running;
    if (burns) account.next_settlement_at = now;
    made.accounts.push_back(std::move(account));
  }
  return made;
}

void insert(Store& store, const Population& population) {
  insert_rows(store, population.hosts,
              [](Tx& tx, const Host& row) { return tx.hosts().upsert(row); });
  insert_rows(store, population.cards,
              [](Tx& tx, const Card& row) { return tx.hosts().upsert_card(row); });
  insert_rows(store, population.accounts,
              [](Tx& tx, const Account& row) { return tx.accounts().insert(row); });
  insert_rows(store, population.topups,
              [](Tx& tx, const LedgerEntry& row) { return tx.ledger().append(row); });
  insert_rows(store, population.instances,
              [](Tx& tx, const Instance& row) { return tx.instances().insert(row); });
  insert_rows(store, population.allocations,
              [](Tx& tx, const Allocation& row) { return tx.hosts().insert_allocation(row); });
  insert_rows(store, population.segments,
              [](Tx& tx, const Segment& row) { return tx.ledger().insert_segment(row); });
  insert_rows(store, population.operations,
              [](Tx& tx, const Operation& row) { return tx.instances().insert_operation(row); });
}

}  // namespace cardhour::bench
