#include "adapters/files/catalog_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/size.h"

namespace cardhour {
namespace {

const std::string kDirectory = CARDHOUR_SOURCE_DIR "/catalog/";

std::string file_with(const std::string& text) {
  static int number = 0;
  const std::string path = testing::TempDir() + "catalog-" + std::to_string(getpid()) + "-" +
                           std::to_string(number++) + ".toml";
  std::ofstream(path) << text;
  return path;
}

const std::string kModel = R"([[model]]
key = "rtx-4090"
name = "RTX 4090"
driver_names = ["RTX 4090"]
vram = "24G"
bandwidth_gb_per_s = 1008
fp32_tflops = 82.6
fp16_tflops = 165.2
int8_tops = 660.6
interconnect = "PCIe 4.0 x16"
ecc = false
compute_capability = "8.9"
source = "data sheet"
)";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}
std::string catalog_error(const std::string& text) {
  const std::string path = file_with(text);
  const auto catalog = load_catalog(path);
  std::filesystem::remove(path);
  if (catalog) return "";
  EXPECT_FALSE(catalog.error().what.zh.empty());
  EXPECT_EQ(catalog.error().code, ErrorCode::invalid_argument);
  return catalog.error().what.en.substr(path.size());
}
std::string prices_error(const std::string& text) {
  const std::string path = file_with(text);
  const auto prices = load_prices(path, Catalog({{.key = "rtx-4090"}}));
  std::filesystem::remove(path);
  return prices ? "" : prices.error().what.en.substr(path.size());
}

class ShippedCatalog : public testing::Test {
 protected:
  void SetUp() override {
    auto loaded = load_catalog(kDirectory + "gpu-models.toml");
    ASSERT_TRUE(loaded.has_value()) << loaded.error().what.en;
    catalog_ = *loaded;
  }
  std::string by_driver(std::string_view name, int64_t gib) {
    const GpuModel* model = catalog_.by_driver_name(name, gib * kGiB);
    return model == nullptr ? "" : model->key;
  }
  Catalog catalog_;
};

TEST_F(ShippedCatalog, HasEveryModelWithItsFigures) {
  EXPECT_EQ(catalog_.keys(),
            "rtx-3090, rtx-4090, rtx-5090, rtx-4080, rtx-3080-ti, a100-40g, a100-80g, a800, h20, "
            "h100, h200, l40s, a6000, v100-16g, v100-32g, ascend-910b");
  for (const GpuModel& model : catalog_.models()) {
    EXPECT_GT(model.bandwidth_gb_per_s, 0) << model.key;
    EXPECT_GT(model.fp32_tflops, 0) << model.key;
    EXPECT_GT(model.fp16_tflops, model.fp32_tflops) << model.key;
    EXPECT_GE(model.vram_bytes, 12 * kGiB) << model.key;
    EXPECT_FALSE(model.source.empty()) << model.key;
    EXPECT_EQ(catalog_.by_key(model.key), &model);
  }
}

TEST_F(ShippedCatalog, KnowsTheDriversNames) {
  const std::tuple<const char*, int, const char*> cards[] = {
      {"NVIDIA GeForce RTX 3090", 24, "rtx-3090"},
      {"NVIDIA GeForce RTX 4090", 24, "rtx-4090"},
      {"NVIDIA GeForce RTX 5090", 32, "rtx-5090"},
      {"NVIDIA GeForce RTX 4080", 16, "rtx-4080"},
      {"NVIDIA GeForce RTX 3080 Ti", 12, "rtx-3080-ti"},
      {"NVIDIA A100-SXM4-40GB", 40, "a100-40g"},
      {"NVIDIA A100-PCIE-40GB", 40, "a100-40g"},
      {"NVIDIA A100-SXM4-80GB", 80, "a100-80g"},
      {"NVIDIA A100 80GB PCIe", 80, "a100-80g"},
      {"NVIDIA A800-SXM4-80GB", 80, "a800"},
      {"NVIDIA H20", 96, "h20"},
      {"NVIDIA H100 80GB HBM3", 80, "h100"},
      {"NVIDIA H200", 141, "h200"},
      {"NVIDIA L40S", 48, "l40s"},
      {"NVIDIA RTX A6000", 48, "a6000"},
      {"Tesla V100-SXM2-16GB", 16, "v100-16g"},
      {"Tesla V100-SXM2-32GB", 32, "v100-32g"},
      {"NVIDIA GeForce RTX 4090 (SIMULATED)", 24, "rtx-4090"},
      {"NVIDIA GeForce RTX 4090 D", 24, ""},
      {"NVIDIA GeForce GTX 1080", 8, ""}};
  for (const auto& [name, gib, key] : cards) EXPECT_EQ(by_driver(name, gib), key) << name;
}

TEST_F(ShippedCatalog, WarnsOfWhatIsNotCuda) {
  const GpuModel* ascend = catalog_.by_word("910b");
  ASSERT_NE(ascend, nullptr);
  EXPECT_TRUE(ascend->compute_capability.empty());
  EXPECT_NE(ascend->warning.find("Not CUDA"), std::string::npos);
  for (const GpuModel& model : catalog_.models()) {
    EXPECT_TRUE(!model.compute_capability.empty() || !model.warning.empty()) << model.key;
  }
}

TEST_F(ShippedCatalog, AnswersToWhatPeopleType) {
  for (const auto& [word, key] :
       {std::pair{"4090", "rtx-4090"}, std::pair{"3080 ti", "rtx-3080-ti"},
        std::pair{"A6000", "a6000"}, std::pair{"H20", "h20"}, std::pair{"h200", "h200"},
        std::pair{"a100-80g", "a100-80g"}}) {
    ASSERT_NE(catalog_.by_word(word), nullptr) << word;
    EXPECT_EQ(catalog_.by_word(word)->key, key);
  }
  EXPECT_EQ(catalog_.by_word("a100"), nullptr);
}

TEST_F(ShippedCatalog, EveryModelHasAPrice) {
  const auto prices = load_prices(kDirectory + "prices.toml", catalog_);
  ASSERT_TRUE(prices.has_value()) << prices.error().what.en;
  const PriceBook book(*prices);
  EXPECT_EQ(book.per_hour("rtx-4090", Mode::on_demand), Money{1'980'000});
  EXPECT_EQ(book.per_hour("", Mode::no_gpu), Money{100'000});
  for (const GpuModel& model : catalog_.models()) {
    const auto price = book.per_hour(model.key, Mode::on_demand);
    ASSERT_TRUE(price.has_value()) << model.key;
    EXPECT_GT(*price, Money{500'000}) << model.key;
  }
}

TEST(CatalogFile, ReadsAModel) {
  EXPECT_EQ(catalog_error(kModel), "");
  EXPECT_EQ(catalog_error(""), "");
}

TEST(CatalogFile, NamesTheLineOfWhatIsWrong) {
  const std::pair<std::string, std::string> rows[] = {
      {replaced(kModel, "vram =", "vrum ="), ", line 5: \"vrum\" is not known here"},
      {replaced(kModel, "\"24G\"", "24"), ", line 5: \"vram\" must be text in quotes"},
      {replaced(kModel, "\"24G\"", "\"much\""), ", line 5: \"vram\" is not a size"},
      {replaced(kModel, "\"24G\"", "\"24M\""), ", line 5: \"vram\" is out of range"},
      {replaced(kModel, "82.6", "\"82.6\""), ", line 7: \"fp32_tflops\" must be a number"},
      {replaced(kModel, "82.6", "-1"), ", line 7: \"fp32_tflops\" is out of range"},
      {replaced(kModel, "82.6", "nan"), ", line 7: \"fp32_tflops\" is out of range"},
      {replaced(kModel, "false", "1"), ", line 11: \"ecc\" must be true or false"},
      {replaced(kModel, "[\"RTX 4090\"]", "[]"),
       ", line 4: \"driver_names\" must be a list of names"},
      {replaced(kModel, "[\"RTX 4090\"]", "[1]"),
       ", line 4: \"driver_names\" must be text in quotes"},
      {replaced(kModel, "\"rtx-4090\"", "\"RTX 4090\""),
       ", line 2: \"key\" has only a-z, 0-9 and -"},
      {replaced(kModel, "\"data sheet\"", "\"\""), ", line 13: \"source\" is empty"},
      {replaced(kModel, "source = \"data sheet\"\n", ""), ", line 1: \"source\" is missing"},
      {kModel + kModel, ", line 14: \"rtx-4090\" is there twice: see rtx-4090"},
      {kModel + replaced(kModel, "\"rtx-4090\"", "\"other\""),
       ", line 14: \"other\" is there twice: see rtx-4090"},
      {"models = 1\n", ", line 1: \"models\" is not known here"},
      {"model = 1\n", ", line 1: \"model\" must be [[model]]"},
      {"model = [1]\n", ", line 1: \"model\" must be a section"},
  };
  for (const auto& [text, expected] : rows) EXPECT_EQ(catalog_error(text), expected);
  EXPECT_TRUE(catalog_error("[[model]]\nkey = \n").starts_with(", line 2: not valid TOML"));
}

TEST(CatalogFile, SaysThatAFileIsNotThere) {
  EXPECT_EQ(load_catalog("/nonexistent/x.toml").error().code, ErrorCode::not_found);
  EXPECT_EQ(load_catalog("/").error().code, ErrorCode::not_found);
}

TEST(PricesFile, NamesTheLineOfWhatIsWrong) {
  EXPECT_EQ(prices_error("[on_demand]\nrtx-4090 = \"1.98\"\n"), "");
  const std::pair<std::string, std::string> rows[] = {
      {"[on_demand]\nrtx-9090 = \"1\"\n", ", line 2: \"rtx-9090\" is not in the catalog"},
      {"[on_demand]\nrtx-4090 = 1.98\n", ", line 2: \"rtx-4090\" must be text in quotes"},
      {"[on_demand]\nrtx-4090 = \"-1\"\n", ", line 2: \"rtx-4090\" is negative"},
      {"[on_demand]\nrtx-4090 = \"cheap\"\n", ", line 2: \"rtx-4090\" is not an amount of money"},
      {"[no_gpu]\nper_day = \"1\"\n", ", line 2: \"per_day\" is not known here"},
      {"[spot]\n", ", line 1: \"spot\" is not known here"},
      {"on_demand = 1\n", ", line 1: \"on_demand\" must be a section"},
  };
  for (const auto& [text, expected] : rows) EXPECT_EQ(prices_error(text), expected);
}

}  // namespace
}  // namespace cardhour
