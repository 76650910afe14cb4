#include "domain/catalog.h"

#include <gtest/gtest.h>

#include "base/size.h"
#include "domain/pricing.h"

namespace cardhour {
namespace {

Catalog catalog() {
  return Catalog({
      {.key = "rtx-4090", .driver_names = {"RTX 4090"}, .vram_bytes = 24 * kGiB},
      {.key = "rtx-3080-ti", .driver_names = {"RTX 3080 Ti"}, .vram_bytes = 12 * kGiB},
      {.key = "a100-40g", .driver_names = {"A100-SXM4", "A100-SXM4-40GB"}, .vram_bytes = 40 * kGiB},
      {.key = "a100-80g", .driver_names = {"A100-SXM4", "A100-SXM4-80GB"}, .vram_bytes = 80 * kGiB},
      {.key = "h20", .driver_names = {"H20"}, .vram_bytes = 96 * kGiB},
      {.key = "h200", .driver_names = {"H200"}, .vram_bytes = 141 * kGiB},
      {.key = "a6000", .driver_names = {"RTX A6000"}, .vram_bytes = 48 * kGiB},
      {.key = "v100-32g", .driver_names = {"Tesla V100-SXM2-32GB"}, .vram_bytes = 32 * kGiB},
  });
}

std::string by_word(std::string_view word) {
  const Catalog all = catalog();
  const GpuModel* model = all.by_word(word);
  return model == nullptr ? "" : model->key;
}

std::string by_driver(std::string_view name, int64_t memory = 0) {
  const Catalog all = catalog();
  const GpuModel* model = all.by_driver_name(name, memory);
  return model == nullptr ? "" : model->key;
}

TEST(Catalog, FindsWhatPeopleType) {
  for (const char* word : {"4090", "rtx4090", "RTX 4090", "rtx-4090", "Rtx_4090"}) {
    EXPECT_EQ(by_word(word), "rtx-4090") << word;
  }
  EXPECT_EQ(by_word("3080ti"), "rtx-3080-ti");
  EXPECT_EQ(by_word("A100-80G"), "a100-80g");
  EXPECT_EQ(by_word("v100"), "v100-32g");
}

TEST(Catalog, AnExactWordBeatsALongerOne) { EXPECT_EQ(by_word("H20"), "h20"); }

TEST(Catalog, RefusesWhatIsUnknownOrAmbiguous) {
  for (const char* word : {"a100", "rtx", "", "  ", "卡", "9090", "rtx 4090 super"}) {
    EXPECT_EQ(by_word(word), "") << word;
  }
}

TEST(Catalog, FindsTheDriversName) {
  EXPECT_EQ(by_driver("NVIDIA GeForce RTX 4090"), "rtx-4090");
  EXPECT_EQ(by_driver("NVIDIA GeForce RTX 4090 (SIMULATED)"), "rtx-4090");
  EXPECT_EQ(by_driver("GeForce RTX 4090"), "rtx-4090");
  EXPECT_EQ(by_driver("NVIDIA RTX A6000"), "a6000");
  EXPECT_EQ(by_driver("Tesla V100-SXM2-32GB"), "v100-32g");
  EXPECT_EQ(by_driver("NVIDIA GeForce RTX 4090 D"), "");
  EXPECT_EQ(by_driver(""), "");
}

TEST(Catalog, TheNearerMemoryDecidesBetweenSizesOfAName) {
  EXPECT_EQ(by_driver("NVIDIA A100-SXM4", 39 * kGiB), "a100-40g");
  EXPECT_EQ(by_driver("NVIDIA A100-SXM4", 79 * kGiB), "a100-80g");
}

TEST(Catalog, NamesItsKeys) {
  EXPECT_EQ(Catalog({{.key = "h20"}, {.key = "h200"}}).keys(), "h20, h200");
  EXPECT_EQ(Catalog().keys(), "");
  const Catalog all = catalog();
  EXPECT_EQ(all.by_key("h20")->key, "h20");
  EXPECT_EQ(all.by_key("H20"), nullptr);
}

TEST(PriceBook, IsByModelOnDemandAndOneForNoGpu) {
  const PriceBook book(
      {{"rtx-4090", Mode::on_demand, Money{1'980'000}}, {"", Mode::no_gpu, Money{100'000}}});
  EXPECT_EQ(book.per_hour("rtx-4090", Mode::on_demand), Money{1'980'000});
  EXPECT_EQ(book.per_hour("h20", Mode::on_demand), std::nullopt);
  EXPECT_EQ(book.per_hour("", Mode::no_gpu), Money{100'000});
  EXPECT_EQ(book.per_hour("rtx-4090", Mode::no_gpu), Money{100'000});
  EXPECT_EQ(PriceBook().per_hour("", Mode::no_gpu), std::nullopt);
}

}  // namespace
}  // namespace cardhour
