#include "domain/estimate/model.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace cardhour::estimate {
namespace {

TEST(Params, ReadsWhatPeopleType) {
  const std::pair<const char*, double> rows[] = {
      {"7B", 7e9},     {"7b", 7e9},         {"0.5B", 5e8},   {"350M", 3.5e8},
      {"1.5B", 1.5e9}, {"7000000000", 7e9}, {"100000K", 1e8}};
  for (const auto& [text, expected] : rows)
    EXPECT_DOUBLE_EQ(parse_params(text).value_or(0), expected);
}

TEST(Params, SaysWhatWasExpectedOfWrongUnits) {
  for (const char* text :
       {"", "7", "7GB", "14 GB", "B", "-7B", "7B B", "nan", "1e10", "1e9B", "99999B", "七B"}) {
    const auto params = parse_params(text);
    ASSERT_FALSE(params.has_value()) << text;
    EXPECT_EQ(params.error().field, "params");
    EXPECT_NE(params.error().next.en.find("7B"), std::string::npos);
    EXPECT_NE(params.error().next.zh.find("7B"), std::string::npos);
  }
}

// Touvron et al. 2023, LLaMA, table 2: 7B has 32 layers of 4096, 13B 40 of 5120.
TEST(Shape, OfASizeIsThatOfTheModelsOfThisSize) {
  EXPECT_EQ(shape_of_params(7e9).layers, 32);
  EXPECT_EQ(shape_of_params(7e9).hidden, 4096);
  EXPECT_EQ(shape_of_params(13e9).layers, 40);
  EXPECT_EQ(shape_of_params(13e9).hidden, 5120);
  EXPECT_EQ(shape_of_params(7e9).kv_heads, 32);
}

TEST(Shape, CountsLlama) {
  ModelShape llama;
  llama.layers = 32;
  llama.hidden = 4096;
  llama.heads = 32;
  llama.ffn = 11008;
  llama.vocab = 32000;
  const auto whole = completed(llama);
  ASSERT_TRUE(whole.has_value());
  EXPECT_DOUBLE_EQ(whole->params, 6738415616);  // what its files hold
  EXPECT_EQ(whole->head_dim, 128);
  EXPECT_DOUBLE_EQ(kv_values_per_token(*whole), 262144);
}

TEST(Shape, RefusesWhatCannotBe) {
  ModelShape shape;
  EXPECT_EQ(completed(shape).error().field, "shape");
  shape.layers = 2;
  shape.hidden = 64;
  shape.heads = 4;
  shape.vocab = 2000;
  EXPECT_TRUE(completed(shape).has_value());
  shape.kv_heads = 8;
  EXPECT_EQ(completed(shape).error().field, "kv_heads");
  shape.kv_heads = -1;
  EXPECT_EQ(completed(shape).error().field, "kv_heads");
  shape.kv_heads = 0;
  shape.params = -1;
  EXPECT_EQ(completed(shape).error().field, "params");
}

RC_GTEST_PROP(ShapeProperty, NeverShrinksAsTheSizeGrows, ()) {
  const double less = *rc::gen::inRange(1, 1'000'000) * 1e6;
  const double more = less + *rc::gen::inRange(0, 1'000'000) * 1e6;
  RC_ASSERT(shape_of_params(more).layers >= shape_of_params(less).layers);
  RC_ASSERT(kv_values_per_token(shape_of_params(more)) >=
            kv_values_per_token(shape_of_params(less)));
}
RC_GTEST_PROP(ParamsProperty, AnyTextIsReadOrRefused, (const std::string& text)) {
  const auto params = parse_params(text);
  if (params) RC_ASSERT(*params >= 1e5 && *params <= 1e13);
}

}  // namespace
}  // namespace cardhour::estimate
