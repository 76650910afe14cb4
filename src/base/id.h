// Ids: every kind of thing has an id type of its own, so that an account id cannot be
// passed where an instance id is meant. The text is one prefix letter and 12 characters of
// lower-case base32 (60 random bits): a valid host name and engine object name, safe in
// paths and logs. Card ids are the driver's UUID. Thread-safe: plain values.
#pragma once

#include <compare>
#include <functional>
#include <string>
#include <string_view>

namespace cardhour {

template <class Tag>
struct Id {
  std::string text;

  bool empty() const { return text.empty(); }
  auto operator<=>(const Id&) const = default;
};

struct AccountTag {
  static constexpr char kPrefix = 'a';
};
struct InstanceTag {
  static constexpr char kPrefix = 'i';
};
struct RunTag {
  static constexpr char kPrefix = 'r';
};
struct OperationTag {
  static constexpr char kPrefix = 'o';
};
struct SegmentTag {
  static constexpr char kPrefix = 's';
};
struct TransactionTag {
  static constexpr char kPrefix = 't';
};
struct HostTag {
  static constexpr char kPrefix = 'h';
};
struct TokenTag {
  static constexpr char kPrefix = 'k';
};
struct SshKeyTag {
  static constexpr char kPrefix = 'p';
};
struct AllocationTag {
  static constexpr char kPrefix = 'c';
};
struct InvitationTag {
  static constexpr char kPrefix = 'v';
};
struct CardTag {};  // the driver's UUID, e.g. GPU-1b2c...

using AccountId = Id<AccountTag>;
using InstanceId = Id<InstanceTag>;
using RunId = Id<RunTag>;
using OperationId = Id<OperationTag>;
using SegmentId = Id<SegmentTag>;
using TransactionId = Id<TransactionTag>;
using HostId = Id<HostTag>;
using TokenId = Id<TokenTag>;
using SshKeyId = Id<SshKeyTag>;
using AllocationId = Id<AllocationTag>;
using InvitationId = Id<InvitationTag>;
using CardId = Id<CardTag>;

// The id text for 64 random bits, e.g. "i" + 12 characters.
std::string id_text(char prefix, unsigned long long random_bits);

template <class Tag>
Id<Tag> make_id(unsigned long long random_bits) {
  return Id<Tag>{id_text(Tag::kPrefix, random_bits)};
}

// True when the text has the form of an id with that prefix. Input from outside passes
// through here before it reaches a query or a path.
bool is_id_text(char prefix, std::string_view text);

}  // namespace cardhour

template <class Tag>
struct std::hash<cardhour::Id<Tag>> {
  size_t operator()(const cardhour::Id<Tag>& id) const noexcept {
    return std::hash<std::string>{}(id.text);
  }
};
