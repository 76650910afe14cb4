// Store: the database. All access is inside a transaction: `write` may change rows and holds
// the one writer; `read` sees a consistent snapshot. The function's Status decides: an error
// rolls back. Repositories are reached through Tx and live as long as it. A unique index
// that refuses a row is ErrorCode::conflict; a locked, full or read-only database is
// store_unavailable; a row that is not there is not_found. Thread-safe (Store); a Tx belongs
// to the thread that runs it. No port is called inside a transaction.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/id.h"
#include "base/time.h"
#include "domain/account.h"
#include "domain/adoption.h"
#include "domain/event.h"
#include "domain/host.h"
#include "domain/instance.h"
#include "domain/ledger.h"
#include "domain/metering.h"
#include "domain/operation.h"
#include "domain/placement.h"
#include "domain/pricing.h"
#include "ports/card_health.h"
#include "ports/idle.h"

namespace cardhour {

// A page of a list: rows after the cursor, newest or smallest first as the list says.
struct Page {
  std::string after;  // the id of the last row of the page before; empty: from the start
  int limit = 20;
};

class AccountRepository {
 public:
  virtual ~AccountRepository() = default;
  virtual Status insert(const Account& account) = 0;
  virtual Status update(const Account& account) = 0;  // all columns but id
  virtual Result<std::optional<Account>> find(const AccountId& id) = 0;
  virtual Result<std::optional<Account>> find_login(const std::string& login) = 0;
  virtual Result<std::vector<Account>> page(const Page& page) = 0;  // by id
  virtual Result<int64_t> count() = 0;
  // Accounts whose next_settlement_at is at or before `now`, earliest first.
  virtual Result<std::vector<AccountId>> due(Timestamp now, int limit) = 0;
  virtual Status set_next_settlement(const AccountId& id, std::optional<Timestamp> at) = 0;

  virtual Status insert_token(const Token& token) = 0;
  virtual Result<std::optional<Token>> find_token(const TokenId& id) = 0;
  virtual Result<std::vector<Token>> tokens(const AccountId& id) = 0;  // newest first
  virtual Result<bool> delete_token(const TokenId& id) = 0;
  virtual Status delete_sessions(const AccountId& id, const TokenId& except) = 0;
  virtual Status delete_tokens_of(const InstanceId& id) = 0;
  virtual Status delete_expired_tokens(Timestamp now) = 0;

  virtual Status insert_ssh_key(const SshKey& key) = 0;
  virtual Result<std::vector<SshKey>> ssh_keys(const AccountId& id) = 0;  // oldest first
  virtual Result<bool> delete_ssh_key(const AccountId& account, const SshKeyId& id) = 0;

  virtual Status insert_invitation(const Invitation& invitation) = 0;
  virtual Result<std::optional<Invitation>> find_invitation(const std::string& code_hash) = 0;
  // False when somebody was faster.
  virtual Result<bool> use_invitation(const InvitationId& id, const AccountId& by) = 0;
};

// Where a run could go: `cards` of the model, or a no-GPU run (0 cards) on a host that has
// fewer than `no_gpu_slots` of them.
struct SpaceWanted {
  PlacementRequest request;
  std::string model;
  int no_gpu_slots = 0;
};

// Of one model over all hosts.
struct ModelSpace {
  std::string model;
  int cards_free = 0;  // on the reachable host that has the most
  bool simulated = false;
};

class HostRepository {
 public:
  virtual ~HostRepository() = default;
  virtual Status upsert(const Host& host) = 0;
  virtual Result<std::vector<Host>> all() = 0;
  virtual Result<std::optional<Host>> find(const HostId& id) = 0;
  virtual Status upsert_card(const Card& card) = 0;
  virtual Result<std::vector<Card>> cards() = 0;                     // by host, then PCI address
  virtual Result<std::vector<Card>> cards_of(const HostId& id) = 0;  // by PCI address
  virtual Result<std::vector<Card>> granted_to(const InstanceId& id) = 0;  // by UUID

  // Of all reachable hosts the one that place() of domain/placement.h would take, with what
  // place() looks at; nullopt when none carries it. Its cost does not grow with the hosts, but
  // for no-GPU runs.
  virtual Result<std::optional<HostSpace>> best_space(const SpaceWanted& wanted) = 0;
  virtual Result<bool> has_model(const std::string& model) = 0;  // a card of it is present
  virtual Result<std::vector<ModelSpace>> models() = 0;          // present ones, by name

  // conflict: the card is granted already.
  virtual Status insert_allocation(const Allocation& allocation) = 0;
  virtual Result<std::vector<Allocation>> active_allocations() = 0;
  virtual Result<std::vector<Allocation>> active_allocations_of(const InstanceId& id) = 0;
  virtual Status release_allocations(const InstanceId& id, Timestamp at) = 0;

  // conflict: taken.
  virtual Status insert_claim(const Claim& claim) = 0;
  // The smallest number in [first, last] that is not claimed.
  virtual Result<std::optional<int64_t>> free_number(const HostId& host, ClaimKind kind,
                                                     int64_t first, int64_t last) = 0;
  virtual Result<std::vector<int64_t>> claimed_numbers(ClaimKind kind) = 0;  // on any host
  virtual Status delete_claims(const InstanceId& id) = 0;
  virtual Result<std::vector<Claim>> claims() = 0;

  virtual Result<std::vector<Price>> prices() = 0;
  virtual Status set_price(const Price& price) = 0;
};

struct InstanceFilter {
  std::optional<AccountId> account;
  bool with_purged = false;
  std::optional<InstanceId> id;  // this one only, whatever else is asked
};

// An instance and what a list shows beside it.
struct InstanceOverview {
  Instance instance;
  std::string owner;       // login
  std::string step;        // of the pending operation; empty: there is none
  std::string last_error;  // of that step
  std::string last_error_zh;
  Money closed_cost;  // booked of its closed segments
  std::vector<Segment> open;
  std::vector<CardId> cards;  // granted
  bool simulated = false;     // those cards
};

class InstanceRepository {
 public:
  virtual ~InstanceRepository() = default;
  virtual Status insert(const Instance& instance) = 0;
  // Writes all columns and version + 1, if the stored version is instance.version; else
  // conflict. Raises instance.version.
  virtual Status update(Instance& instance) = 0;
  virtual Result<std::optional<Instance>> find(const InstanceId& id) = 0;
  // By id or by exact name among the account's unpurged ones; several of a name: conflict.
  virtual Result<std::vector<Instance>> find_named(const AccountId& account,
                                                   const std::string& name) = 0;
  virtual Result<std::vector<Instance>> page(const InstanceFilter& filter,
                                             const Page& page) = 0;  // newest first
  // The same page; the number of queries does not grow with it.
  virtual Result<std::vector<InstanceOverview>> overviews(const InstanceFilter& filter,
                                                          const Page& page) = 0;
  virtual Result<std::vector<Instance>> of_account(const AccountId& account) = 0;  // not purged
  // Those of the account with a notice.
  virtual Result<std::vector<InstanceId>> warned(const AccountId& account) = 0;
  // Every instance whose engine object may exist: not purged.
  virtual Result<std::vector<Instance>> alive() = 0;
  // In the bin with bin_until at or before `now`, desired not purged.
  virtual Result<std::vector<InstanceId>> bin_expired(Timestamp now, int limit) = 0;
  // Instances in creating, starting, stopping or releasing, in_bin and wanted purged, or
  // running with an undelivered notice, without a pending operation.
  virtual Result<std::vector<InstanceId>> forgotten() = 0;
  // Sum of system and data disk quotas of the unpurged instances of the host.
  virtual Result<int64_t> disk_quota_sum(const HostId& host) = 0;

  // conflict: the instance has a pending operation.
  virtual Status insert_operation(const Operation& operation) = 0;
  virtual Result<std::optional<Operation>> pending_operation(const InstanceId& id) = 0;
  virtual Status update_operation(const Operation& operation) = 0;  // all columns, by id
  // The next claimable operation: pending, not_before <= now, and unlocked or with an expired
  // lock; it is locked with the token until `lock_expires_at`.
  virtual Result<std::optional<Operation>> claim_operation(Timestamp now,
                                                           const std::string& lock_token,
                                                           Timestamp lock_expires_at) = 0;
  virtual Result<std::optional<Operation>> find_operation(const OperationId& id) = 0;
  // After a crash: unlocks everything (one control plane per SQLite database).
  virtual Status unlock_operations() = 0;
  // The earliest not_before of pending, unlocked operations.
  virtual Result<std::optional<Timestamp>> next_operation_at() = 0;
};

struct SegmentFilter {
  AccountId account;
  std::optional<Timestamp> from;  // overlapping [from, to)
  std::optional<Timestamp> to;
  std::optional<InstanceId> instance;
};

class LedgerRepository {
 public:
  virtual ~LedgerRepository() = default;
  // Appends the transaction and its postings, and updates the cached balances. CHECKs the sum.
  virtual Status append(const LedgerEntry& entry) = 0;
  virtual Result<Money> balance(const std::string& ledger_account) = 0;  // cached; 0 when new
  // Every cached balance that differs from the sum of its postings: empty when all is well.
  virtual Result<std::vector<std::string>> unproven_balances() = 0;
  virtual Result<std::vector<LedgerTransaction>> transactions(
      const AccountId& account,
      const Page& page) = 0;  // newest first
  virtual Result<std::vector<Posting>> postings(const TransactionId& id) = 0;
  virtual Result<Money> posted_for(const SegmentId& id) = 0;  // sum of revenue postings of it

  virtual Status insert_segment(const Segment& segment) = 0;
  virtual Status update_segment(const Segment& segment) = 0;
  // Writes posted and booked_until only: what a settlement moves.
  virtual Status book_segment(const Segment& segment) = 0;
  virtual Result<std::vector<Segment>> open_segments(const AccountId& account) = 0;
  virtual Result<std::vector<Segment>> open_segments_of(const InstanceId& id) = 0;
  virtual Result<std::vector<Segment>> segments_of_run(const RunId& id) = 0;
  virtual Result<std::vector<Segment>> segments(const SegmentFilter& filter) = 0;  // by opened_at
};

// Those for which all that is given holds; of everybody when nothing is.
struct EventFilter {
  std::optional<AccountId> account;
  std::optional<InstanceId> instance;
  std::optional<std::string> actor;
};

class EventRepository {
 public:
  virtual ~EventRepository() = default;
  virtual Status append(Event event) = 0;  // seq is given by the store
  // After `seq`, oldest first.
  virtual Result<std::vector<Event>> after(int64_t seq, const EventFilter& filter, int limit) = 0;
  // The newest `limit` before `seq`, oldest first.
  virtual Result<std::vector<Event>> before(int64_t seq, const EventFilter& filter, int limit) = 0;
};

// The effect of a request that carried an Idempotency-Key, stored in the effect's transaction.
struct IdempotentAnswer {
  std::string account;  // who used the key
  std::string idempotency_key;
  std::string body_hash;  // of method, path and body
  std::string result;     // the id of what was made
  Timestamp at;
};
BOOST_DESCRIBE_STRUCT(IdempotentAnswer, (), (account, idempotency_key, body_hash, result, at))

class KeyRepository {
 public:
  virtual ~KeyRepository() = default;
  virtual Result<std::optional<IdempotentAnswer>> find_answer(const std::string& account,
                                                              const std::string& key) = 0;
  virtual Status insert_answer(const IdempotentAnswer& answer) = 0;  // conflict: key exists
  virtual Status delete_answers_before(Timestamp at) = 0;
  // Small facts: deployment id, alerts already sent, ...
  virtual Result<std::optional<std::string>> find_setting(const std::string& name) = 0;
  virtual Status set_setting(const std::string& name, const std::string& value) = 0;
};

// What a restored backup brings with it.
class RestoreRepository {
 public:
  virtual ~RestoreRepository() = default;
  virtual Status put(const Restore& restore) = 0;  // by restored_at
  virtual Result<std::optional<Restore>> latest() = 0;
  virtual Status put_adoption(const Adoption& adoption) = 0;  // by instance
  virtual Result<std::optional<Adoption>> find_adoption(const InstanceId& id) = 0;
  virtual Result<std::vector<Adoption>> adoptions() = 0;  // oldest first
  virtual Status delete_adoption(const InstanceId& id) = 0;
};

class Tx {
 public:
  virtual ~Tx() = default;
  virtual AccountRepository& accounts() = 0;
  virtual HostRepository& hosts() = 0;
  virtual InstanceRepository& instances() = 0;
  virtual LedgerRepository& ledger() = 0;
  virtual EventRepository& events() = 0;
  virtual KeyRepository& keys() = 0;
  virtual CardHealthRepository& card_health() = 0;
  virtual IdleRepository& idle() = 0;
  virtual RestoreRepository& restores() = 0;
};

class Store {
 public:
  virtual ~Store() = default;
  virtual Status write(const std::function<Status(Tx&)>& body) = 0;
  virtual Status read(const std::function<Status(Tx&)>& body) = 0;
};

}  // namespace cardhour
