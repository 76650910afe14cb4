#include "cli/decode.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "adapters/http/json_codec.h"
#include "cli/config.h"
#include "wire/estimate.h"
#include "wire/telemetry.h"
#include "wire/wire.h"

namespace cardhour::cli {
namespace {

constexpr size_t kBytesMax = 64 << 20;  // a year's bill, line by line

const JsonReadOptions& reading() {
  static const JsonReadOptions options{UnknownFields::ignore, kBytesMax};
  return options;
}

// The members of a problem document (RFC 9457) that the CLI shows.
struct ProblemView {
  std::optional<std::string> code;
  std::optional<std::string> detail;
  std::optional<std::string> next;
  std::optional<std::string> field;
  std::optional<int> exit_code;
};
BOOST_DESCRIBE_STRUCT(ProblemView, (), (code, detail, next, field, exit_code))

struct PageCursor {
  std::optional<std::string> next;
};
BOOST_DESCRIBE_STRUCT(PageCursor, (), (next))

// For codes of a newer server: the nearest one with that exit code.
ErrorCode code_of_exit(int exit_code) {
  switch (exit_code) {
    case 2:
      return ErrorCode::invalid_argument;
    case 3:
      return ErrorCode::forbidden;
    case 4:
      return ErrorCode::not_found;
    case 5:
      return ErrorCode::conflict;
    case 6:
      return ErrorCode::no_capacity;
    case 7:
      return ErrorCode::insufficient_balance;
    case 8:
      return ErrorCode::quota_exceeded;
    case 9:
      return ErrorCode::overloaded;
    default:
      return ErrorCode::internal;
  }
}

Text same(const std::string& text) { return Text{text, text}; }

// An answer that is not a problem document: something between us and the server.
Error foreign_error(int http_status) {
  const auto code = http_status >= 500 ? ErrorCode::overloaded : ErrorCode::internal;
  return Error{code,
               text("the server answered HTTP {} and no reason", "服务器返回 HTTP {}，没有说明原因",
                    http_status),
               {"Is this a Cardhour server? A proxy in front of it may be in the way.",
                "请确认这是卡时服务器，中间的代理可能有问题。"},
               {}};
}

}  // namespace

template <class T>
Result<T> decode(const std::string& json) {
  Result<T> value = from_json<T>(json, reading());
  if (value) return value;
  return fail(ErrorCode::internal,
              Text{"the answer does not fit this program: " + value.error().what.en,
                   "收到的内容与本程序不符：" + value.error().what.zh},
              Text{"Use the CLI of the server's version (cardhour version).",
                   "请使用与服务器版本一致的命令行程序（cardhour version）。"});
}

template <class T>
std::string encode(const T& value) {
  return to_json_text(value);
}

std::string pretty_json(const std::string& json) {
  const auto value = parse_json(json, reading());
  return value ? json_text(*value, JsonLayout::indented) : json;
}

std::string joined_pages(const std::vector<std::string>& pages) {
  boost::json::array items;
  for (const std::string& page : pages) {
    const auto value = parse_json(page, reading());
    if (!value || !value->is_object()) continue;
    const boost::json::value* rows = value->as_object().if_contains("items");
    if (rows == nullptr || !rows->is_array()) continue;
    for (const boost::json::value& row : rows->as_array()) items.push_back(row);
  }
  return json_text(boost::json::object{{"items", std::move(items)}});
}

Result<std::optional<std::string>> next_page(const std::string& json) {
  TRY_ASSIGN(const PageCursor cursor, decode<PageCursor>(json));
  return cursor.next;
}

Error problem_error(int http_status, const std::string& body) {
  const Result<ProblemView> problem = from_json<ProblemView>(body, reading());
  if (!problem || !problem->code) return foreign_error(http_status);
  const auto known = enum_from<ErrorCode>(*problem->code);
  Error error;
  error.code = known ? *known : code_of_exit(problem->exit_code.value_or(1));
  error.what = same(problem->detail.value_or(*problem->code));
  error.next = same(problem->next.value_or(""));
  error.field = problem->field.value_or("");
  return error;
}

#define CARDHOUR_READS(T) template Result<T> decode<T>(const std::string&);
#define CARDHOUR_WRITES(T) template std::string encode<T>(const T&);

CARDHOUR_READS(Config)
CARDHOUR_WRITES(Config)
CARDHOUR_READS(wire::VersionView)
CARDHOUR_READS(wire::MeView)
CARDHOUR_READS(wire::AccountView)
CARDHOUR_READS(wire::TokenAnswer)
CARDHOUR_READS(wire::SshKeyView)
CARDHOUR_READS(wire::InvitationView)
CARDHOUR_READS(wire::PriceView)
CARDHOUR_READS(wire::QuoteView)
CARDHOUR_READS(wire::InstanceView)
CARDHOUR_READS(wire::EventView)
CARDHOUR_READS(wire::WalletView)
CARDHOUR_READS(wire::TransactionView)
CARDHOUR_READS(wire::BillView)
CARDHOUR_READS(wire::Page<wire::AccountView>)
CARDHOUR_READS(wire::Page<wire::TokenView>)
CARDHOUR_READS(wire::Page<wire::SshKeyView>)
CARDHOUR_READS(wire::Page<wire::GpuModelView>)
CARDHOUR_READS(wire::Page<wire::OfferView>)
CARDHOUR_READS(wire::Page<wire::PriceView>)
CARDHOUR_READS(wire::Page<wire::ImageView>)
CARDHOUR_READS(wire::Page<wire::InstanceView>)
CARDHOUR_READS(wire::Page<wire::EventView>)
CARDHOUR_READS(wire::Page<wire::TransactionView>)
CARDHOUR_READS(wire::Page<wire::HostView>)
CARDHOUR_READS(wire::GpuView)
CARDHOUR_READS(wire::DiagnosisView)
CARDHOUR_READS(wire::IdleRuleView)
CARDHOUR_WRITES(wire::IdleRuleRequest)
CARDHOUR_WRITES(wire::HoldRequest)
CARDHOUR_WRITES(wire::GpuView)
CARDHOUR_WRITES(wire::UsageView)
CARDHOUR_WRITES(wire::DiagnosisView)
CARDHOUR_READS(wire::UsageView)
CARDHOUR_READS(wire::Page<wire::GpuView>)
CARDHOUR_READS(wire::Page<wire::GpuProcessView>)
CARDHOUR_WRITES(wire::GpuRemovalRequest)
CARDHOUR_READS(wire::VramView)
CARDHOUR_READS(wire::ThroughputView)
CARDHOUR_READS(wire::CardsView)
CARDHOUR_READS(wire::TimeView)
CARDHOUR_READS(wire::CostView)
CARDHOUR_READS(wire::OwnView)
CARDHOUR_READS(wire::Page<wire::ModelView>)
CARDHOUR_WRITES(wire::VramRequest)
CARDHOUR_WRITES(wire::ThroughputRequest)
CARDHOUR_WRITES(wire::CardsRequest)
CARDHOUR_WRITES(wire::TimeRequest)
CARDHOUR_WRITES(wire::CostRequest)
CARDHOUR_WRITES(wire::OwnRequest)
CARDHOUR_READS(wire::BackupView)
CARDHOUR_READS(wire::Page<wire::BackupView>)
CARDHOUR_READS(wire::Page<wire::AdoptionView>)
CARDHOUR_WRITES(wire::LoginRequest)
CARDHOUR_WRITES(wire::RegisterRequest)
CARDHOUR_WRITES(wire::AccountRequest)
CARDHOUR_WRITES(wire::PasswordRequest)
CARDHOUR_WRITES(wire::TokenRequest)
CARDHOUR_WRITES(wire::SshKeyRequest)
CARDHOUR_WRITES(wire::PriceRequest)
CARDHOUR_WRITES(wire::RentRequest)
CARDHOUR_WRITES(wire::StartRequest)
CARDHOUR_WRITES(wire::RenameRequest)
CARDHOUR_WRITES(wire::ReleaseRequest)
CARDHOUR_WRITES(wire::TopUpRequest)
CARDHOUR_WRITES(wire::KeepRequest)
CARDHOUR_WRITES(wire::EventView)
CARDHOUR_WRITES(wire::InstanceView)

#undef CARDHOUR_READS
#undef CARDHOUR_WRITES

}  // namespace cardhour::cli
