#include "adapters/http/json_codec.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <boost/json/parse.hpp>
#include <cmath>
#include <limits>

namespace cardhour {
namespace wire_test {

enum class Mode { on_demand, spot };
BOOST_DESCRIBE_ENUM(Mode, on_demand, spot)

struct Disk {
  std::string name;
  int64_t size_bytes = 0;
};
BOOST_DESCRIBE_STRUCT(Disk, (), (name, size_bytes))

struct Common {
  InstanceId id;
};
BOOST_DESCRIBE_STRUCT(Common, (), (id))

struct Everything : Common {
  Mode mode = Mode::on_demand;
  bool public_ = true;
  int cards = 1;
  uint32_t port = 0;
  double bandwidth = 0;
  Money price;
  std::optional<Money> discount;
  Timestamp made_at;
  Duration idle_ms;
  std::optional<std::string> note;
  std::vector<Disk> disks;
  std::map<std::string, int> labels;
  std::vector<Money> payments;
  Secret password;
  Text title;
  boost::json::value extra;
};
BOOST_DESCRIBE_STRUCT(Everything, (Common),
                      (mode, public_, cards, port, bandwidth, price, discount, made_at, idle_ms,
                       note, disks, labels, payments, password, title, extra))

struct ChangeRequest {
  static constexpr bool kAllOptional = true;
  std::string name = "unchanged";
  int cards = 7;
};
BOOST_DESCRIBE_STRUCT(ChangeRequest, (), (name, cards))

struct Priced {
  Money price;
  std::optional<Money> cap;
};
BOOST_DESCRIBE_STRUCT(Priced, (), (price, cap))

struct Numbers {
  int small = 0;
  int64_t large = 0;
  uint32_t port = 0;
  double ratio = 0;
  bool flag = false;
};
BOOST_DESCRIBE_STRUCT(Numbers, (), (small, large, port, ratio, flag))

struct Tree {
  std::string name;
  std::vector<Tree> children;
};
BOOST_DESCRIBE_STRUCT(Tree, (), (name, children))

Everything example() {
  Everything all;
  all.id = make_id<InstanceTag>(12345);
  all.mode = Mode::spot;
  all.public_ = false;
  all.cards = 2;
  all.port = 4'000'000'000;
  all.bandwidth = 1.98;
  all.price = Money{1'980'000};
  all.made_at = Timestamp{1'764'577'800'123};
  all.idle_ms = minutes(30);
  all.disks = {{"data", 107374182400}, {"更多", 0}};
  all.labels = {{"a", 1}, {"b", -2}};
  all.payments = {Money{1}, Money{-2'000'000}};
  all.password = Secret("let me in");
  all.title = Text{"hello", "你好"};
  all.extra = boost::json::parse(R"({"x":[1,null]})");
  return all;
}

// The message of the refusal, or "accepted".
template <class T>
std::string refusal(std::string_view json) {
  const auto result = from_json<T>(json);
  if (result) return "accepted";
  EXPECT_EQ(result.error().code, ErrorCode::invalid_argument);
  EXPECT_FALSE(result.error().what.zh.empty());
  return result.error().what.en;
}

TEST(JsonCodec, WritesEveryKindOfMember) {
  EXPECT_EQ(to_json_text(example()),
            R"({"id":")" + make_id<InstanceTag>(12345).text +
                R"(","mode":"spot","public":false,"cards":2,"port":4000000000,"bandwidth":1.98,)"
                R"("price":"1.980000","price_micro":1980000,"made_at":"2025-12-01T08:30:00.123Z",)"
                R"("idle_ms":1800000,"disks":[{"name":"data","size_bytes":107374182400},)"
                R"({"name":"更多","size_bytes":0}],"labels":{"a":1,"b":-2},)"
                R"("payments":["0.000001","-2.000000"],"password":"let me in",)"
                R"("title":{"en":"hello","zh":"你好"},"extra":{"x":[1,null]}})");
}

TEST(JsonCodec, RoundTripsEveryKindOfMember) {
  const std::string text = to_json_text(example());
  const auto back = from_json<Everything>(text);
  ASSERT_TRUE(back) << back.error().what.en;
  EXPECT_EQ(to_json_text(*back), text);
  EXPECT_EQ(back->password.reveal(), "let me in");
  EXPECT_FALSE(back->note.has_value());
}

TEST(JsonCodec, AbsentMembersKeepTheirDefaults) {
  const auto numbers = from_json<Numbers>(R"({"small":1,"large":2,"port":3,"ratio":4})");
  ASSERT_TRUE(numbers) << numbers.error().what.en;
  EXPECT_EQ(numbers->ratio, 4.0);  // a whole number is a number
  EXPECT_FALSE(numbers->flag);
  const auto change = from_json<ChangeRequest>(R"({"cards":3})");
  ASSERT_TRUE(change);
  EXPECT_EQ(change->name, "unchanged");
  EXPECT_EQ(change->cards, 3);
}

TEST(JsonCodec, MoneyIsReadFromEitherForm) {
  EXPECT_EQ(from_json<Priced>(R"({"price":"1.98"})")->price.micro, 1'980'000);
  EXPECT_EQ(from_json<Priced>(R"({"price_micro":1980000})")->price.micro, 1'980'000);
  EXPECT_EQ(from_json<Priced>(R"({"price":"1.98","price_micro":1980000})")->price.micro, 1'980'000);
  EXPECT_EQ(from_json<Priced>(R"({"price":"1","cap":null})")->cap, std::nullopt);
  EXPECT_EQ(from_json<Priced>(R"({"price":"1","cap_micro":5})")->cap, Money{5});
  EXPECT_EQ(to_json_text(Priced{Money{5}, Money{6}}),
            R"({"price":"0.000005","price_micro":5,"cap":"0.000006","cap_micro":6})");
  EXPECT_EQ(refusal<Priced>(R"({"price":"1.98","price_micro":198})"),
            "price: price and price_micro differ; send one of them");
  EXPECT_EQ(refusal<Priced>("{}"), "price: required, but missing");
  EXPECT_EQ(refusal<Priced>(R"({"price":1.98})"),
            "price: expected an amount as a string, like \"1.98\", got a number that is not a "
            "whole one in range");
  EXPECT_EQ(refusal<Priced>(R"({"price":"1.98","price_micro":1.5})").substr(0, 12), "price_micro:");
  EXPECT_EQ(refusal<Priced>(R"({"price":"much"})").substr(0, 7), "price: ");
}

TEST(JsonCodec, UnknownFieldsAreRefusedByNameUnlessIgnored) {
  EXPECT_EQ(refusal<Disk>(R"({"name":"a","size_bytes":1,"gpus":2})"),
            "gpus: unknown field; known here: name, size_bytes");
  const auto lax = from_json<Disk>(R"({"name":"a","size_bytes":1,"gpus":2})",
                                   {.unknown_fields = UnknownFields::ignore});
  EXPECT_TRUE(lax);
  // A hostile name is bounded and cannot break the line.
  const std::string long_name(500, 'x');
  EXPECT_LT(refusal<Disk>("{\"" + long_name + "\":1}").size(), 200u);
  EXPECT_EQ(refusal<Disk>(R"({"a\nb":1})").substr(0, 4), "a?b:");
}

TEST(JsonCodec, ErrorsNameThePathExpectedAndGot) {
  const std::string id = make_id<InstanceTag>(1).text;
  const auto error =
      from_json<Tree>(R"({"name":"a","children":[{"name":"b"},{"name":5}]})").error();
  EXPECT_EQ(error.field, "children[1].name");
  EXPECT_EQ(error.what.en, "children[1].name: expected a string, got a whole number");
  EXPECT_EQ(error.what.zh, "children[1].name: 应为字符串，收到整数");
  EXPECT_EQ(refusal<Tree>(R"({"name":"a","children":{}})"),
            "children: expected a list, got an object");
  EXPECT_EQ(refusal<Tree>(R"([])"), "expected an object, got a list");
  EXPECT_EQ(refusal<Tree>(R"({"name":null})"), "name: expected a string, got null");
  EXPECT_EQ(refusal<Everything>(R"({"id":"x"})"), "id: expected an id: \"i\" and 12 characters");
  EXPECT_EQ(refusal<Everything>(R"({"id":")" + id + R"(","mode":"cheap"})"),
            "mode: expected one of on_demand, spot; got \"cheap\"");
  EXPECT_EQ(refusal<Everything>(R"({"id":")" + id + R"("})"), "mode: required, but missing");
}

TEST(JsonCodec, IntegersAreExactAndInRange) {
  const auto numbers = [](const std::string& small, const std::string& port) {
    return refusal<Numbers>(R"({"small":)" + small + R"(,"large":1,"ratio":1.5,"port":)" + port +
                            "}");
  };
  EXPECT_EQ(numbers("2147483647", "0"), "accepted");
  EXPECT_EQ(numbers("2147483648", "0"),
            "small: must be a whole number from -2147483648 to 2147483647");
  EXPECT_EQ(numbers("99999999999999999999", "0").substr(0, 30), "small: expected a whole number");
  EXPECT_EQ(numbers("18446744073709551615", "0").substr(0, 11), "small: must");
  EXPECT_EQ(numbers("1.0", "0"),
            "small: expected a whole number, got a number that is not a whole one in range");
  EXPECT_EQ(numbers("1e3", "0").substr(0, 15), "small: expected");
  EXPECT_EQ(numbers("true", "0"), "small: expected a whole number, got true or false");
  EXPECT_EQ(numbers("1", "-1"), "port: must be a whole number from 0 to 4294967295");
  EXPECT_EQ(refusal<std::vector<uint64_t>>("[18446744073709551615]"), "accepted");
  EXPECT_EQ(refusal<std::vector<uint64_t>>("[-1]"),
            "[0]: must be a whole number from 0 to 18446744073709551615");
  EXPECT_EQ(numbers("1", "4294967296"), "port: must be a whole number from 0 to 4294967295");
}

TEST(JsonCodec, TextIsUtf8WithoutControlCharacters) {
  EXPECT_EQ(refusal<Tree>("{\"name\":\"line\\nfeed\\ttab 卡时\"}"), "accepted");
  EXPECT_EQ(refusal<Tree>("{\"name\":\"a\\u0000b\"}").substr(0, 24), "name: control characters");
  EXPECT_EQ(refusal<Tree>("{\"name\":\"a\\rb\"}").substr(0, 24), "name: control characters");
  EXPECT_EQ(refusal<Tree>("{\"name\":\"a\\u007fb\"}").substr(0, 24), "name: control characters");
  EXPECT_EQ(refusal<Tree>("{\"name\":\"\xff\"}").substr(0, 14), "not valid JSON");
  EXPECT_EQ(refusal<Tree>("{\"name\":\"\\ud800\"}").substr(0, 14), "not valid JSON");
}

TEST(JsonCodec, MalformedDeepAndLargeTextIsRefused) {
  for (const char* text : {"", "{", "{}x", "{'a':1}", "{\"a\":1,}", "// c\n{}", "\xEF\xBB\xBF{}",
                           "{\"a\":NaN}", "{\"a\":01}"}) {
    EXPECT_EQ(refusal<Tree>(text).substr(0, 14), "not valid JSON") << text;
  }
  EXPECT_EQ(refusal<Tree>(std::string(100, '[') + std::string(100, ']')).substr(0, 14),
            "not valid JSON");
  const auto large = from_json<Tree>(std::string(limits::kBodyBytes + 1, ' '));
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().code, ErrorCode::too_large);
}

TEST(JsonCodec, TopLevelListsAndMaps) {
  EXPECT_EQ(to_json_text(std::vector<int>{1, 2}), "[1,2]");
  const auto map = from_json<std::map<std::string, std::optional<int>>>(R"({"a":1,"b":null})");
  ASSERT_TRUE(map);
  EXPECT_EQ(map->at("a"), 1);
  EXPECT_EQ(map->at("b"), std::nullopt);
  EXPECT_EQ(refusal<std::vector<int>>("[1,\"2\"]"), "[1]: expected a whole number, got a string");
}

TEST(JsonCodec, NumbersAreWrittenForPeople) {
  Numbers numbers;
  numbers.ratio = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(to_json_text(numbers).find("\"ratio\":null"), std::string::npos);
  numbers.ratio = 0.1;
  EXPECT_NE(to_json_text(numbers).find("\"ratio\":0.1,"), std::string::npos);
  EXPECT_EQ(json_text(boost::json::parse(R"({"a":[],"b":[1,{"c":{}}]})"), JsonLayout::indented),
            "{\n  \"a\": [],\n  \"b\": [\n    1,\n    {\n      \"c\": {}\n    }\n  ]\n}\n");
}

TEST(JsonCodec, TextIsEscapedAsBoostDoes) {
  std::string every;
  for (int byte = 0; byte < 128; ++byte) every.push_back(static_cast<char>(byte));
  every += "显卡";
  EXPECT_EQ(to_json_text(every), json_text(boost::json::value(every)));
}

TEST(JsonCodec, AnyTextAndNumberSurvivesTheTrip) {
  EXPECT_TRUE(rc::check("from_json(to_json(x)) == x", [] {
    Numbers numbers;
    numbers.small = *rc::gen::arbitrary<int>();
    numbers.large = *rc::gen::arbitrary<int64_t>();
    numbers.port = *rc::gen::arbitrary<uint32_t>();
    numbers.ratio = *rc::gen::arbitrary<double>();
    numbers.flag = *rc::gen::arbitrary<bool>();
    RC_ASSERT(to_json_text(numbers) == json_text(to_json(numbers)));
    const auto back = from_json<Numbers>(to_json_text(numbers));
    RC_ASSERT(back.has_value());
    RC_ASSERT(back->small == numbers.small && back->large == numbers.large);
    RC_ASSERT(back->port == numbers.port && back->flag == numbers.flag);
    // Boost.JSON 1.81 reads doubles to within a unit in the last place.
    RC_ASSERT(std::abs(back->ratio - numbers.ratio) <= 1e-15 * std::abs(numbers.ratio));

    Tree tree;
    tree.name = *rc::gen::container<std::string>(rc::gen::inRange<char>(32, 127));
    const auto again = from_json<Tree>(to_json_text(tree));
    RC_ASSERT(again.has_value());
    RC_ASSERT(again->name == tree.name);

    Priced priced{
        Money{*rc::gen::inRange<int64_t>(-999'999'999'999'000'000, 999'999'999'999'000'000)},
        std::nullopt};
    RC_ASSERT(from_json<Priced>(to_json_text(priced))->price == priced.price);
  }));
}

TEST(JsonCodec, NoBytesAreTooStrangeToRefuse) {
  EXPECT_TRUE(rc::check("from_json never crashes", [] {
    const auto bytes = *rc::gen::arbitrary<std::string>();
    (void)from_json<Everything>(bytes);
    (void)from_json<Tree>("{\"name\":\"" + bytes + "\"}");
    RC_SUCCEED();
  }));
}

TEST(JsonCodec, SchemasFollowTheTypes) {
  SchemaComponents components;
  EXPECT_EQ(json_text(schema_of<Priced>(components)), R"({"$ref":"#/components/schemas/Priced"})");
  EXPECT_EQ(json_text(components.schemas["Priced"].at("required")), R"(["price","price_micro"])");
  (void)request_schema_of<Priced>(components);
  EXPECT_EQ(json_text(components.schemas["PricedInput"].at("additionalProperties")), "false");
  (void)request_schema_of<ChangeRequest>(components);
  EXPECT_FALSE(components.schemas["ChangeRequest"].as_object().contains("required"));
  (void)schema_of<Tree>(components);  // recursion ends
  EXPECT_EQ(json_text(components.schemas["Tree"].at("properties").at("children")),
            R"({"type":"array","items":{"$ref":"#/components/schemas/Tree"}})");
  (void)schema_of<Everything>(components);
  const auto& properties = components.schemas["Everything"].at("properties");
  EXPECT_EQ(json_text(properties.at("made_at")), R"({"type":"string","format":"date-time"})");
  EXPECT_EQ(json_text(properties.at("password")), R"({"type":"string","format":"password"})");
  EXPECT_EQ(json_text(properties.at("labels")),
            R"({"type":"object","additionalProperties":{"type":"integer","format":"int32"}})");
  EXPECT_EQ(json_text(components.schemas["Mode"]),
            R"({"type":"string","enum":["on_demand","spot"]})");
}

}  // namespace wire_test
}  // namespace cardhour
