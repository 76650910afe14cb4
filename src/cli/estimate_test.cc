// The estimate commands, and what they read on this machine.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "adapters/http/json_codec.h"
#include "cli/cli.h"
#include "cli/fake_server.h"
#include "cli/model_file.h"

namespace cardhour::cli {
namespace {

// ---- files ----

TEST(ModelFile, ReadsAConfig) {
  const auto shape =
      parse_config(R"({"model_type":"llama","num_hidden_layers":32,"hidden_size":4096,
      "num_attention_heads":32,"num_key_value_heads":8,"intermediate_size":14336,
      "vocab_size":128256,"tie_word_embeddings":false,"rope_scaling":{"type":"x"}})");
  ASSERT_TRUE(shape.has_value());
  EXPECT_EQ(shape->layers, 32);
  EXPECT_EQ(shape->kv_heads, 8);
  EXPECT_EQ(shape->ffn, 14336);
  EXPECT_EQ(shape->name, "llama");
}

TEST(ModelFile, ReadsTheWordsOfOtherFamilies) {
  const auto gpt = parse_config(R"({"model_type":"gpt2","n_layer":12,"n_embd":768,"n_head":12,
      "vocab_size":50257})");
  EXPECT_EQ(gpt->ffn, 2048);  // two matrices of 3072, counted as three
  const auto mixture = parse_config(R"({"num_hidden_layers":48,"hidden_size":2048,
      "num_attention_heads":32,"num_key_value_heads":4,"head_dim":128,"intermediate_size":6144,
      "moe_intermediate_size":768,"num_experts":128,"num_experts_per_tok":8})");
  EXPECT_EQ(mixture->ffn, 768);
  EXPECT_EQ(mixture->experts_active, 8);
  const auto seeing = parse_config(R"({"vision_config":{},"text_config":{"num_hidden_layers":28,
      "hidden_size":3584,"num_attention_heads":28}})");
  EXPECT_EQ(seeing->layers, 28);
  const auto latent = parse_config(R"({"num_hidden_layers":61,"hidden_size":7168,
      "num_attention_heads":128,"kv_lora_rank":512,"qk_rope_head_dim":64})");
  EXPECT_EQ(latent->kv_values_per_layer, 576);
}

TEST(ModelFile, SaysWhatWasExpected) {
  for (const char* text : {"", "[]", "{", "{}", R"({"num_hidden_layers":"32"})",
                           R"({"num_hidden_layers":-1,"hidden_size":1,"num_attention_heads":1})"}) {
    const auto shape = parse_config(text);
    ASSERT_FALSE(shape.has_value()) << text;
    EXPECT_NE(shape.error().next.en.find("config.json"), std::string::npos);
    EXPECT_NE(shape.error().next.zh.find("config.json"), std::string::npos);
  }
}

TEST(ModelFile, CountsTheTensorsOfAHeader) {
  const auto shape = parse_safetensors_header(R"({"__metadata__":{"format":"pt"},
      "model.embed_tokens.weight":{"dtype":"BF16","shape":[1000,256],"data_offsets":[0,1]},
      "model.layers.0.self_attn.q_proj.weight":{"dtype":"BF16","shape":[256,256]},
      "model.layers.0.self_attn.k_proj.weight":{"dtype":"BF16","shape":[128,256]},
      "model.layers.1.mlp.gate_proj.weight":{"dtype":"BF16","shape":[512,256]},
      "lm_head.weight":{"dtype":"BF16","shape":[1000,256]}})");
  ASSERT_TRUE(shape.has_value());
  EXPECT_EQ(shape->params, 2 * 256000 + 65536 + 32768 + 131072);
  EXPECT_EQ(shape->layers, 2);
  EXPECT_EQ(shape->hidden, 256);
  EXPECT_EQ(shape->heads, 2);
  EXPECT_EQ(shape->kv_heads, 1);
  EXPECT_EQ(shape->ffn, 512);
  EXPECT_FALSE(shape->tied);
  const auto unknown = parse_safetensors_header(R"({"w":{"shape":[1000,1000]}})");
  EXPECT_EQ(unknown->params, 1e6);
  EXPECT_EQ(unknown->layers, 0);
  EXPECT_FALSE(parse_safetensors_header(R"({"a.qweight":{"shape":[1]}})").has_value());
  EXPECT_FALSE(parse_safetensors_header(R"({"a":{"shape":[-1]}})").has_value());
  EXPECT_FALSE(parse_safetensors_header(R"({"a":1})").has_value());
}

std::string file_with(const std::string& name, const std::string& bytes) {
  const std::string path =
      testing::TempDir() + "estimate-" + std::to_string(::getpid()) + "-" + name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}
std::string header_of(uint64_t length, const std::string& text) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<char>(length >> (8 * i) & 0xFF));
  return bytes + text;
}

TEST(ModelFile, TellsConfigAndWeightsApartByTheirBytes) {
  const std::string tensors = R"({"w":{"shape":[500,1000]}})";
  const std::string whole = file_with("whole", header_of(tensors.size(), tensors) + "weights");
  ASSERT_TRUE(read_model_file(whole).has_value());
  EXPECT_EQ(read_model_file(whole)->params, 5e5);
  const std::string cut = file_with("cut", header_of(1000, tensors));
  EXPECT_NE(read_model_file(cut).error().what.en.find("ends within"), std::string::npos);
  const std::string endless = file_with("endless", header_of(uint64_t{1} << 50, tensors));
  EXPECT_NE(read_model_file(endless).error().what.en.find("impossible length"), std::string::npos);
  EXPECT_EQ(read_model_file("/nonexistent").error().code, ErrorCode::not_found);
  const std::string shard = file_with("model-00001-of-00004.safetensors", "x");
  EXPECT_NE(read_model_file(shard).error().what.en.find("shards"), std::string::npos);
  for (const std::string& path : {whole, cut, endless, shard}) std::filesystem::remove(path);
}

RC_GTEST_PROP(ModelFileProperty, AnyBytesAreReadOrRefused, (const std::string& bytes)) {
  (void)parse_config(bytes);
  (void)parse_safetensors_header(bytes);
}
// JSON with the right names and anything as values.
RC_GTEST_PROP(ModelFileProperty, AnyValuesAreReadOrRefused, ()) {
  const auto value =
      rc::gen::element<std::string>("0", "-1", "1e400", "1e300", "null", "\"x\"", "[]", "{}",
                                    "4096", "0.5", "99999999999999999999", "true");
  std::string config = "{\"model_type\":\"qwen\"";
  for (const char* name :
       {"num_hidden_layers", "hidden_size", "num_attention_heads", "num_key_value_heads",
        "head_dim", "intermediate_size", "vocab_size", "num_experts", "kv_lora_rank"}) {
    config += std::string(",\"") + name + "\":" + *value;
  }
  (void)parse_config(config + "}");
  (void)parse_safetensors_header("{\"model.layers.9999999999.q_proj.weight\":{\"shape\":[" +
                                 *value + "," + *value + "]},\"b\":" + *value + "}");
}

// ---- commands ----

class EstimateTest : public testing::Test {
 protected:
  EstimateTest() {
    ::setenv("XDG_CONFIG_HOME", testing::TempDir().c_str(), 1);
    ::setenv("CARDHOUR_SERVER", server_.url().c_str(), 1);
    ::setenv("CARDHOUR_TOKEN", "ch_token", 1);
  }
  ~EstimateTest() override {
    for (const char* name : {"XDG_CONFIG_HOME", "CARDHOUR_SERVER", "CARDHOUR_TOKEN"})
      ::unsetenv(name);
  }
  int run(std::vector<std::string> words) {
    words.insert(words.begin(), {"cardhour", "--lang", "en", "estimate"});
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int exit = cli_main(static_cast<int>(words.size()), argv.data());
    out_ = testing::internal::GetCapturedStdout();
    err_ = testing::internal::GetCapturedStderr();
    return exit;
  }
  // What was sent to the last request, as its wire struct.
  template <class T>
  T sent() {
    const auto all = server_.asked("POST /api/v1/estimates/");
    EXPECT_FALSE(all.empty());
    const auto request = from_json<T>(all.empty() ? "{}" : all.back().body);
    EXPECT_TRUE(request.has_value()) << all.back().body;
    return request ? *request : T{};
  }

  FakeServer server_;
  std::string out_;
  std::string err_;
};

TEST_F(EstimateTest, VramSendsWhatWasTyped) {
  run({"vram", "--params", "14B", "--for", "qlora", "--context", "8K", "--rank", "64",
       "--optimizer", "adam-8bit", "--no-checkpointing", "-n", "2", "--zero", "3"});
  const auto request = sent<wire::VramRequest>();
  EXPECT_EQ(request.model.params, "14B");
  EXPECT_EQ(request.workload, estimate::Workload::qlora);
  EXPECT_EQ(request.context, 8192);
  EXPECT_EQ(request.lora_rank, 64);
  EXPECT_EQ(request.optimizer, estimate::Optimizer::adam_8bit);
  EXPECT_FALSE(request.gradient_checkpointing);
  EXPECT_EQ(request.cards, 2);
  EXPECT_EQ(request.zero_stage, 3);
}

TEST_F(EstimateTest, VramSendsTheShapeAndNotTheFile) {
  const std::string path = file_with("config.json", R"({"num_hidden_layers":2,"hidden_size":64,
      "num_attention_heads":4,"secret":"of the house"})");
  run({"vram", "--file", path, "--beside", "13B:int4,qwen-7b"});
  std::filesystem::remove(path);
  const auto request = sent<wire::VramRequest>();
  ASSERT_TRUE(request.model.shape.has_value());
  EXPECT_EQ(request.model.shape->layers, 2);
  ASSERT_EQ(request.beside.size(), 2u);
  EXPECT_EQ(request.beside[0].precision, estimate::Precision::int4);
  EXPECT_EQ(request.beside[1].model.preset, "qwen-7b");
  EXPECT_EQ(server_.asked().back().body.find("secret"), std::string::npos);
}

TEST_F(EstimateTest, ShowsPartsAndWithExplainTheirFormulas) {
  wire::VramView view;
  view.sentence = "7B needs about 17 GiB of VRAM.";
  view.parts = {
      {"weights", "weights", {1, 14'000'000'000, 3}, "parameters × bytes: 7B × 2 B = 13 GiB"}};
  view.fits.emplace_back();
  view.fits.back().gpu_name = "RTX 4090";
  view.fits.back().fit = estimate::Fit::tight;
  view.disk.sentence = "A data disk of 50 GiB.";
  server_.on("POST /estimates/vram", {{200, to_json_text(view)}});
  EXPECT_EQ(run({"vram", "--params", "7B"}), 0) << err_;
  EXPECT_TRUE(out_.starts_with("7B needs about 17 GiB of VRAM.")) << out_;
  EXPECT_NE(out_.find("13 GiB"), std::string::npos);
  EXPECT_NE(out_.find("tight"), std::string::npos);
  EXPECT_EQ(out_.find("7B × 2 B"), std::string::npos);
  EXPECT_EQ(run({"vram", "--params", "7B", "--explain"}), 0);
  EXPECT_NE(out_.find("7B × 2 B"), std::string::npos);
  EXPECT_EQ(run({"vram", "--params", "7B", "--json"}), 0);
  EXPECT_EQ(out_, to_json_text(view) + "\n");
}

TEST_F(EstimateTest, ALogIsReadHereAndSentAsPoints) {
  std::string log = "secret line\n";
  for (int step = 1; step <= 20'000; ++step) {
    log += "step " + std::to_string(step) + " loss 1.0 0.5 s/step\n";
  }
  const std::string path = file_with("train.log", log);
  run({"time", "--log", path, "--steps", "1000", "--known"});
  std::filesystem::remove(path);
  const auto request = sent<wire::TimeRequest>();
  ASSERT_TRUE(request.log.has_value());
  EXPECT_LT(request.log->size(), 200'000u);
  EXPECT_EQ(request.log->find("secret"), std::string::npos);
  EXPECT_NE(request.log->find("20000 "), std::string::npos);
  EXPECT_EQ(request.steps, 1000);
  EXPECT_TRUE(request.known);
}

TEST_F(EstimateTest, CostOwnAndCardsSendWhatWasTyped) {
  run({"cost", "--gpu", "4090", "--hours-per-day", "22", "--days", "14", "--project", "new"});
  const auto cost = sent<wire::CostRequest>();
  EXPECT_EQ(cost.hours_per_day, 22);
  EXPECT_EQ(cost.days, 14);
  EXPECT_EQ(cost.known, false);
  EXPECT_FALSE(cost.run_ms.has_value());
  run({"own", "--hours", "50", "--machine", "30000", "--kwh", "0.65", "--data-must-stay"});
  const auto own = sent<wire::OwnRequest>();
  EXPECT_EQ(own.machine_price, Money{30'000'000'000});
  EXPECT_EQ(own.price_per_kwh, Money{650'000});
  EXPECT_TRUE(own.data_must_stay);
  run({"cards", "--task", "images", "--vram", "20G", "--at-most", "2", "--max-price", "5"});
  const auto cards = sent<wire::CardsRequest>();
  EXPECT_EQ(cards.task, estimate::CardTask::images);
  EXPECT_EQ(cards.vram_bytes, int64_t{20} << 30);
  EXPECT_EQ(cards.cards, 2);
}

TEST_F(EstimateTest, WrongUnitsAreAnsweredWithWhatWasExpected) {
  const std::pair<std::vector<std::string>, const char*> rows[] = {
      {{"vram", "--params", "7GB"}, "7B, 1.5B, 350M"},
      {{"vram"}, "--model llama-3.1-8b"},
      {{"vram", "--params", "7B", "--model", "qwen-7b"}, "--model llama-3.1-8b"},
      {{"vram", "--params", "7B", "--context", "8 KB"}, "4096 or 8K"},
      {{"vram", "--params", "7B", "--beside", "13B:fp6"}, "13B:int4"},
      {{"vram", "--file", "/dev/null"}, "config.json"},
      {{"time", "--step", "0.9h"}, "0.9s or 900ms"},
      {{"time", "--step", "0.9s", "--samples", "many"}, "A number from 1"},
      {{"cost", "--run", "12"}, "30s, 45m, 4h or 2d"},
      {{"own", "--hours", "50", "--machine", "¥20000"}, "20000 or 0.80"},
      {{"cards", "--task", "training"}, "--vram 20G"},
      {{"cards", "--vram", "lots"}, "24G"}};
  for (const auto& [words, expected] : rows) {
    EXPECT_NE(run(words), 0) << words[0];
    EXPECT_NE(err_.find(expected), std::string::npos) << words[0] << ": " << err_;
    EXPECT_TRUE(server_.asked("POST /api/v1/estimates/").empty());
  }
}

}  // namespace
}  // namespace cardhour::cli
