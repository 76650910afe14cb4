#include "adapters/files/presets_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

namespace cardhour {
namespace {

const std::string kFile = CARDHOUR_SOURCE_DIR "/catalog/model-presets.toml";
const std::string kModel = R"([[model]]
key = "tiny-1b"
name = "Tiny 1B"
params = "1.1B"
layers = 22
hidden = 2048
heads = 32
kv_heads = 4
ffn = 5632
vocab = 32000
source = "config.json"
)";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}
std::string error_of(const std::string& text) {
  const std::string path = testing::TempDir() + "presets-" + std::to_string(getpid()) + ".toml";
  std::ofstream(path) << text;
  const auto presets = load_presets(path);
  std::filesystem::remove(path);
  if (presets) return "";
  EXPECT_FALSE(presets.error().what.zh.empty());
  EXPECT_EQ(presets.error().code, ErrorCode::invalid_argument);
  return presets.error().what.en.substr(path.size());
}

// The architecture and the size of a preset must not contradict one another. Of latent
// attention and shared experts the count knows nothing.
TEST(ShippedPresets, CountToTheSizesThatTheyState) {
  const auto presets = load_presets(kFile);
  ASSERT_TRUE(presets.has_value()) << presets.error().what.en;
  ASSERT_GE(presets->all().size(), 30u);
  for (const auto& preset : presets->all()) {
    EXPECT_FALSE(preset.source.empty()) << preset.key;
    const estimate::ModelShape& shape = preset.shape;
    if (shape.kind == estimate::ModelKind::diffusion || shape.kv_values_per_layer > 0) continue;
    EXPECT_NEAR(estimate::count_params(shape) / shape.params, 1, 0.005) << preset.key;
  }
}

TEST(ShippedPresets, AnswerToWhatPeopleType) {
  const auto presets = load_presets(kFile);
  ASSERT_TRUE(presets.has_value());
  for (const char* word : {"llama-3.1-8b", "Llama 3.1 8B", "llama3.1-8b", "LLAMA-3.1-8B"}) {
    ASSERT_NE(presets->by_word(word), nullptr) << word;
    EXPECT_EQ(presets->by_word(word)->key, "llama-3.1-8b");
  }
  EXPECT_EQ(presets->by_word("llama"), nullptr);
  EXPECT_EQ(presets->by_word(""), nullptr);
}

// Active parameters of mixtures, as their makers publish them: 12.9B and 39B (docs.mistral.ai),
// 3.3B (Qwen3 model card), 37B (DeepSeek-V3 technical report).
TEST(ShippedPresets, KnowWhatATokenPasses) {
  const auto presets = load_presets(kFile);
  ASSERT_TRUE(presets.has_value());
  for (const auto& [key, billions] :
       {std::pair{"mixtral-8x7b", 12.9}, std::pair{"mixtral-8x22b", 39.0},
        std::pair{"qwen3-30b-a3b", 3.3}, std::pair{"deepseek-v3", 37.0}}) {
    EXPECT_NEAR(presets->by_word(key)->shape.active_params / 1e9, billions, billions * 0.03) << key;
  }
}

TEST(PresetsFile, NamesTheLineOfWhatIsWrong) {
  EXPECT_EQ(error_of(kModel), "");
  const std::pair<std::string, std::string> rows[] = {
      {replaced(kModel, "layers", "layer"), ", line 5: \"layer\" is not known here"},
      {replaced(kModel, "\"1.1B\"", "1.1"), ", line 4: \"params\" must be text in quotes"},
      {replaced(kModel, "\"1.1B\"", "\"1.1 GB\""),
       ", line 4: \"params\" is \"1.1 GB\" is not a number of parameters"},
      {replaced(kModel, "22", "-1"), ", line 5: \"layers\" is out of range"},
      {replaced(kModel, "22", "\"22\""), ", line 5: \"layers\" must be a whole number"},
      {replaced(kModel, "kv_heads = 4", "kv_heads = 64"),
       ", line 1: \"tiny-1b\" is kv_heads must be 1 to 32"},
      {replaced(kModel, "source = \"config.json\"\n", ""), ", line 1: \"source\" is missing"},
      {kModel + "kind = \"video\"\n", ", line 12: \"kind\" is language or diffusion"},
      {kModel + kModel, ", line 12: \"tiny-1b\" is there twice"},
      {"model = 1\n", ", line 1: \"model\" must be [[model]]"},
      {"models = 1\n", ", line 1: \"models\" is not known here"},
  };
  for (const auto& [text, expected] : rows) EXPECT_EQ(error_of(text), expected);
  EXPECT_EQ(load_presets("/nonexistent/x.toml").error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace cardhour
