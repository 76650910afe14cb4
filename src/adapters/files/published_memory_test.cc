// Memory figures that the makers of models have published, against the estimator's range for the
// shipped presets. A figure must lie between low and high; nothing here was measured by us.
#include <gtest/gtest.h>

#include "adapters/files/presets_file.h"
#include "base/size.h"
#include "domain/estimate/memory.h"

namespace cardhour {
namespace {

using estimate::MemoryRequest;
using estimate::Precision;
using estimate::Workload;

constexpr double kGiBytes = static_cast<double>(kGiB);
constexpr double kGigabytes = 1e9;

struct Figure {
  const char* preset;
  Precision precision;
  double published;  // bytes
};

class PublishedMemory : public testing::Test {
 protected:
  void SetUp() override {
    auto loaded = load_presets(CARDHOUR_SOURCE_DIR "/catalog/model-presets.toml");
    ASSERT_TRUE(loaded.has_value()) << loaded.error().what.en;
    presets_ = *loaded;
  }
  MemoryRequest request(const char* preset) {
    MemoryRequest request;
    const auto* found = presets_.by_word(preset);
    EXPECT_NE(found, nullptr) << preset;
    if (found != nullptr) request.model = found->shape;
    return request;
  }
  static void expect_inside(const MemoryRequest& request, double published) {
    const estimate::Range range = memory_of(request).per_card;
    EXPECT_LE(range.low, published) << request.model.name;
    EXPECT_GE(range.high, published) << request.model.name;
  }
  estimate::ModelPresets presets_;
};

// https://github.com/QwenLM/Qwen, README.md, "Inference Performance": generating 2048 tokens on
// A100-SXM4-80G, PyTorch 2.0.1, Flash-Attention 2. Its GB are 2^30: the 72B's weights alone are
// 144.6 x 10^9 bytes.
TEST_F(PublishedMemory, QwenServing) {
  const Figure figures[] = {
      {"qwen-1.8b", Precision::fp16, 4.23},  {"qwen-1.8b", Precision::int8, 3.48},
      {"qwen-7b", Precision::fp16, 16.99},   {"qwen-7b", Precision::int8, 11.20},
      {"qwen-7b", Precision::int4, 8.21},    {"qwen-14b", Precision::fp16, 30.15},
      {"qwen-14b", Precision::int8, 18.81},  {"qwen-14b", Precision::int4, 13.01},
      {"qwen-72b", Precision::fp16, 144.69}, {"qwen-72b", Precision::int8, 81.27},
      {"qwen-72b", Precision::int4, 48.86}};
  for (const Figure& figure : figures) {
    MemoryRequest serving = request(figure.preset);
    serving.precision = figure.precision;
    serving.context = 2048;
    expect_inside(serving, figure.published * kGiBytes);
  }
}

// The same README, "Profiling of Memory and Speed": one A100, batch 1, sequence 2048, the
// adapters of finetune.py (rank 64 on every linear layer), gradient checkpointing.
TEST_F(PublishedMemory, QwenFineTuning) {
  const std::tuple<const char*, Workload, double> figures[] = {
      {"qwen-7b", Workload::lora, 23.8},   {"qwen-14b", Workload::lora, 37.4},
      {"qwen-1.8b", Workload::qlora, 7.8}, {"qwen-7b", Workload::qlora, 13.9},
      {"qwen-14b", Workload::qlora, 19.9}, {"qwen-72b", Workload::qlora, 64.1}};
  for (const auto& [preset, workload, published] : figures) {
    MemoryRequest tuning = request(preset);
    tuning.workload = workload;
    tuning.context = 2048;
    tuning.lora_rank = 64;
    expect_inside(tuning, published * kGiBytes);
  }
}

// The same table: full training of Qwen-7B over two A100 by ZeRO 3 takes 139.2 in all at 256
// tokens.
TEST_F(PublishedMemory, QwenFullTraining) {
  MemoryRequest tuning = request("qwen-7b");
  tuning.workload = Workload::full;
  tuning.context = 256;
  tuning.cards = 2;
  tuning.zero_stage = 3;
  expect_inside(tuning, 139.2 / 2 * kGiBytes);
}

// https://github.com/01-ai/Yi, README.md, "Hardware requirements": minimum VRAM of the chat
// models, at 16, 8 and 4 bit.
TEST_F(PublishedMemory, YiServing) {
  const Figure figures[] = {{"yi-6b", Precision::fp16, 15}, {"yi-34b", Precision::fp16, 72},
                            {"yi-6b", Precision::int8, 8},  {"yi-34b", Precision::int8, 38},
                            {"yi-6b", Precision::int4, 4},  {"yi-34b", Precision::int4, 20}};
  for (const Figure& figure : figures) {
    MemoryRequest serving = request(figure.preset);
    serving.precision = figure.precision;
    serving.context = 256;
    expect_inside(serving, figure.published * kGiBytes);
  }
}

// https://docs.mistral.ai/models/, as cited by Mistral's staff in discussions 3 and 128 of
// huggingface.co/mistralai/Mixtral-8x7B-Instruct-v0.1 (100 GB) and 32 of
// Mixtral-8x22B-Instruct-v0.1 (300 GB).
TEST_F(PublishedMemory, MixtralServing) {
  for (const auto& [preset, gigabytes] :
       {std::pair{"mixtral-8x7b", 100.0}, std::pair{"mixtral-8x22b", 300.0}}) {
    MemoryRequest serving = request(preset);
    serving.context = 1024;
    expect_inside(serving, gigabytes * kGigabytes);
  }
}

// https://huggingface.co/datasets/diffusers/benchmarks: the transformer of FLUX.1-dev alone, one
// image of 1024 x 1024 in BF16, takes 22.63 (torch's maximum, in 2^30).
TEST_F(PublishedMemory, FluxTransformer) {
  MemoryRequest drawing = request("flux.1");
  drawing.workload = Workload::diffusion;
  drawing.model.encoder_params = drawing.model.vae_params = 0;
  expect_inside(drawing, 22.63 * kGiBytes);
}

// https://huggingface.co/datasets/sayakpaul/sample-datasets, collated_results_peft.csv: the whole
// pipeline of SDXL in FP16, one image, 8.19 to 10.53 by its ways of running.
TEST_F(PublishedMemory, StableDiffusionXl) {
  MemoryRequest drawing = request("sdxl");
  drawing.workload = Workload::diffusion;
  expect_inside(drawing, 8.193 * kGiBytes);
  expect_inside(drawing, 10.529 * kGiBytes);
}

// Dettmers et al. 2023, QLoRA (arXiv 2305.14314), abstract: a 65B model is tuned on one card of
// 48 GB; introduction: 16-bit tuning of it takes more than 780 GB.
TEST_F(PublishedMemory, QloraOf65Billion) {
  MemoryRequest tuning;
  tuning.model = estimate::shape_of_params(65e9);
  tuning.workload = Workload::qlora;
  tuning.context = 512;
  EXPECT_NE(fit_of(memory_of(tuning).per_card, 48 * kGiBytes), estimate::Fit::no);
  tuning.workload = Workload::full;
  EXPECT_GT(memory_of(tuning).per_card.low, 780 * kGigabytes);
}

// https://docs.pytorch.org/torchtune, "Fine-Tuning Llama2 with QLoRA": under 10 GB for Llama 2 7B.
TEST_F(PublishedMemory, QloraOfLlama2) {
  MemoryRequest tuning = request("llama-2-7b");
  tuning.workload = Workload::qlora;
  tuning.context = 2048;
  EXPECT_LT(memory_of(tuning).per_card.low, 10 * kGigabytes);
  EXPECT_LT(memory_of(tuning).per_card.likely, 10 * kGigabytes);
}

}  // namespace
}  // namespace cardhour
