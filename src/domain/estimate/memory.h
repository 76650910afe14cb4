// How much VRAM a workload needs: low, likely and high, in parts that sum up, with the formula
// of each. Low is what a frugal runtime has been measured to take, likely and high are 1.3 and
// 1.6 times the weights for inference, 16 to 20 bytes a parameter for full training. Sources of
// the formulas are in docs/estimator.md. More parameters, context or batch never need less.
// Pure.
#pragma once

#include <boost/describe/enum.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "domain/catalog.h"
#include "domain/estimate/model.h"
#include "domain/estimate/rules.h"

namespace cardhour::estimate {

enum class Workload { inference, lora, qlora, full, diffusion };
BOOST_DESCRIBE_ENUM(Workload, inference, lora, qlora, full, diffusion)
enum class Optimizer { adam, adam_8bit };
BOOST_DESCRIBE_ENUM(Optimizer, adam, adam_8bit)
enum class Checkpointing { on, off };

struct MemoryRequest {
  ModelShape model;
  Workload workload = Workload::inference;
  Precision precision = Precision::fp16;     // of the weights; of the frozen base for LoRA
  Precision kv_precision = Precision::fp16;  // of the KV cache
  int context = 4096;                        // tokens a sequence
  int sequences = 1;  // served at once; the micro-batch of one card when training; images
  Optimizer optimizer = Optimizer::adam;
  Checkpointing checkpointing = Checkpointing::on;  // of gradients
  int lora_rank = 16;
  int zero_stage = 0;  // 0 to 3, over the cards of the data-parallel group
  int tensor_parallel = 1;
  int cards = 1;                      // in all; a multiple of tensor_parallel
  int image_side = 0;                 // of diffusion; 0: the model's own
  std::vector<MemoryRequest> beside;  // other models served by the same card
};
Status check(const MemoryRequest& request);

// Bytes.
struct Range {
  double low = 0;
  double likely = 0;
  double high = 0;
};
Range operator+(const Range& a, const Range& b);
Range operator*(const Range& a, double factor);

struct MemoryPart {
  std::string key;  // "weights", "kv_cache", ...
  Text name;
  Range bytes;          // on one card
  Text terms;           // of the formula: "parameters × bytes"
  std::string formula;  // the same with its numbers, of the likely value
};

struct Memory {
  std::vector<MemoryPart> parts;
  Range per_card;
  Range all_cards;
};
// Requires check().
Memory memory_of(const MemoryRequest& request);

// What the driver and the CUDA context take of every card.
inline constexpr double kDriverBytes = 0.5 * (1 << 30);

// comfortable: also the high end fits. fits: the likely one. tight: only the low one.
enum class Fit { comfortable, fits, tight, no };
BOOST_DESCRIBE_ENUM(Fit, comfortable, fits, tight, no)
Fit fit_of(const Range& per_card, double vram_bytes);

struct CardFit {
  const GpuModel* card = nullptr;
  int cards = 0;   // the fewest of 1, 2, 4, 8, 16 that fit, and not below those asked for; the most
                   // if none do
  Range per_card;  // split over that many
  Fit fit = Fit::no;
  Fit fit_alone = Fit::no;      // on one card
  int utilisation_percent = 0;  // likely bytes of nominal VRAM
  Text sentence;
};
// One row for every model of the catalog, in its order. The pointers are into the catalog.
std::vector<CardFit> card_fits(const MemoryRequest& request, const Catalog& catalog);
// The same request over n cards: inference by tensor parallelism, training by ZeRO 3 unless
// another stage is asked for.
MemoryRequest spread(MemoryRequest request, int cards);

// One change that brings the request onto one smaller card.
struct Change {
  std::string key;  // "int4", "half_context", ...
  const GpuModel* card = nullptr;
  Range per_card;
  Text sentence;
};
std::vector<Change> changes(const MemoryRequest& request, const Catalog& catalog);

// Room on the data disk: weights as published, and for training the checkpoints.
struct DiskNeed {
  double bytes = 0;             // what will lie there
  int64_t data_disk_bytes = 0;  // 50, 100, 200 GB or whole hundreds, below the warning
  Text sentence;
};
DiskNeed disk_need(const MemoryRequest& request, const EstimateRules& rules);

// The sentence above all others.
Text memory_summary(const MemoryRequest& request, const Memory& memory);
std::vector<Text> memory_warnings(const MemoryRequest& request);

}  // namespace cardhour::estimate
