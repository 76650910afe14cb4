// Which cards carry a memory need, what would change it, and the disk beside it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/size.h"
#include "domain/estimate/memory.h"

namespace cardhour::estimate {
namespace {

constexpr int kSpreads[] = {2, 4, 8, 16};
constexpr double kDiskGibMax = 1 << 20;  // a PiB: beyond it nobody asks

Text fit_sentence(const CardFit& fit) {
  const std::string& name = fit.card->name;
  const std::string need = size_text(fit.per_card.likely);
  const std::string cards = fit.cards == 1 ? "" : fmt::format("{} × ", fit.cards);
  switch (fit.fit) {
    case Fit::comfortable:
      return text("{}{}: fits with room to spare, {} % used.", "{}{}：宽裕，占用 {}%。", cards,
                  name, fit.utilisation_percent);
    case Fit::fits:
      return text("{}{}: fits, {} % used; little room for more context or batch.",
                  "{}{}：可以装下，占用 {}%；再加上下文或批量的余地不大。", cards, name,
                  fit.utilisation_percent);
    case Fit::tight:
      return text("{}{}: only with a frugal runtime; {} is likely needed on each.",
                  "{}{}：只有节省的运行时才放得下；每张约需 {}。", cards, name, need);
    case Fit::no:
      return text("{}{}: too small; {} is needed on each.", "{}{}：显存不足；每张需要 {}。", cards,
                  name, need);
  }
  return {};
}

struct Spread {
  int cards = 0;
  Range per_card;
};

// The request as it is, and over those of 1, 2, 4, 8, 16 cards that are more.
std::vector<Spread> spreads_of(const MemoryRequest& request) {
  std::vector<Spread> spreads = {{request.cards, memory_of(request).per_card}};
  if (request.workload == Workload::diffusion) return spreads;  // an image is made on one card
  for (const int cards : kSpreads) {
    if (cards <= request.cards) continue;
    spreads.push_back({cards, memory_of(spread(request, cards)).per_card});
  }
  return spreads;
}

CardFit fit_on(const GpuModel& card, const Range& alone, const std::vector<Spread>& spreads) {
  const auto vram = static_cast<double>(card.vram_bytes);
  CardFit out;
  out.card = &card;
  out.fit_alone = fit_of(alone, vram);
  for (const Spread& each : spreads) {
    out.cards = each.cards;
    out.per_card = each.per_card;
    out.fit = fit_of(out.per_card, vram);
    if (out.fit == Fit::comfortable || out.fit == Fit::fits) break;
  }
  out.utilisation_percent =
      static_cast<int>(std::lround(std::min(out.per_card.likely / vram, 1e4) * 100));
  out.sentence = fit_sentence(out);
  return out;
}

bool carries(const GpuModel& card, const Range& per_card) {
  const Fit fit = fit_of(per_card, static_cast<double>(card.vram_bytes));
  return fit == Fit::comfortable || fit == Fit::fits;
}

// The smallest card that carries it alone, by VRAM; null when none does. Cards that are not
// CUDA come last: few programs run on them.
const GpuModel* smallest(const Range& per_card, const Catalog& catalog) {
  const GpuModel* best = nullptr;
  for (const GpuModel& card : catalog.models()) {
    if (!carries(card, per_card) || card.compute_capability.empty()) continue;
    if (best == nullptr || card.vram_bytes < best->vram_bytes) best = &card;
  }
  return best;
}

struct Trial {
  const char* key;
  Text what;
  MemoryRequest request;
};

void add_serving_trials(const MemoryRequest& request, std::vector<Trial>& to) {
  const auto with = [&](const char* key, Text what, auto change) {
    MemoryRequest changed = request;
    change(changed);
    to.push_back({key, std::move(what), std::move(changed)});
  };
  if (request.precision == Precision::fp32) {
    with("fp16", {"With 16-bit weights", "改用 16 位权重"},
         [](MemoryRequest& r) { r.precision = Precision::fp16; });
  }
  if (bytes_of(request.precision) > 1) {
    with("int8", {"With 8-bit weights", "改用 8 位权重"},
         [](MemoryRequest& r) { r.precision = Precision::int8; });
  }
  if (bytes_of(request.precision) > 0.5) {
    with("int4", {"With 4-bit weights", "改用 4 位权重"},
         [](MemoryRequest& r) { r.precision = Precision::int4; });
  }
  if (bytes_of(request.kv_precision) > 1) {
    with("kv_int8", {"With an 8-bit KV cache", "改用 8 位 KV 缓存"},
         [](MemoryRequest& r) { r.kv_precision = Precision::int8; });
  }
}

void add_training_trials(const MemoryRequest& request, std::vector<Trial>& to) {
  const auto with = [&](const char* key, Text what, auto change) {
    MemoryRequest changed = request;
    change(changed);
    to.push_back({key, std::move(what), std::move(changed)});
  };
  if (request.checkpointing == Checkpointing::off) {
    with("checkpointing", {"With gradient checkpointing", "开启梯度检查点"},
         [](MemoryRequest& r) { r.checkpointing = Checkpointing::on; });
  }
  if (request.workload == Workload::full && request.optimizer == Optimizer::adam) {
    with("adam_8bit", {"With 8-bit Adam", "改用 8 位 Adam"},
         [](MemoryRequest& r) { r.optimizer = Optimizer::adam_8bit; });
  }
  if (request.workload == Workload::full) {
    with("lora", {"With LoRA instead of full training", "改用 LoRA 而非全参训练"},
         [](MemoryRequest& r) {
           r.workload = Workload::lora;
           r.precision = Precision::fp16;
         });
  }
  if (request.workload != Workload::qlora) {
    with("qlora", {"With QLoRA", "改用 QLoRA"},
         [](MemoryRequest& r) { r.workload = Workload::qlora; });
  }
}

std::vector<Trial> trials_of(const MemoryRequest& request) {
  std::vector<Trial> trials;
  const bool serves =
      request.workload == Workload::inference || request.workload == Workload::diffusion;
  if (serves) {
    add_serving_trials(request, trials);
  } else {
    add_training_trials(request, trials);
  }
  if (request.workload != Workload::diffusion && request.context >= 512) {
    MemoryRequest changed = request;
    changed.context /= 2;
    trials.push_back({"half_context",
                      text("With a context of {}", "上下文减为 {}", changed.context),
                      std::move(changed)});
  }
  if (request.sequences > 1) {
    MemoryRequest changed = request;
    changed.sequences /= 2;
    trials.push_back({"half_sequences",
                      text("With {} at once instead of {}", "同时处理 {} 个（原 {} 个）",
                           changed.sequences, request.sequences),
                      std::move(changed)});
  }
  return trials;
}

}  // namespace

Fit fit_of(const Range& per_card, double vram_bytes) {
  const double usable = vram_bytes - kDriverBytes;
  if (per_card.high <= usable) return Fit::comfortable;
  if (per_card.likely <= usable) return Fit::fits;
  if (per_card.low <= usable) return Fit::tight;
  return Fit::no;
}

MemoryRequest spread(MemoryRequest request, int cards) {
  if (cards <= request.cards) return request;
  if (request.workload == Workload::diffusion) return request;
  request.cards = cards;
  if (request.workload == Workload::inference) {
    request.tensor_parallel = cards;
  } else {
    if (request.zero_stage == 0) request.zero_stage = 3;
    if (cards % request.tensor_parallel != 0) request.tensor_parallel = 1;
  }
  return request;
}

std::vector<CardFit> card_fits(const MemoryRequest& request, const Catalog& catalog) {
  const std::vector<Spread> spreads = spreads_of(request);
  MemoryRequest one = request;
  one.cards = one.tensor_parallel = 1;
  const Range alone = memory_of(one).per_card;
  std::vector<CardFit> fits;
  for (const GpuModel& card : catalog.models()) fits.push_back(fit_on(card, alone, spreads));
  return fits;
}

std::vector<Change> changes(const MemoryRequest& request, const Catalog& catalog) {
  const GpuModel* now = smallest(memory_of(request).per_card, catalog);
  std::vector<Change> out;
  for (Trial& trial : trials_of(request)) {
    const Range per_card = memory_of(trial.request).per_card;
    const GpuModel* card = smallest(per_card, catalog);
    if (card == nullptr || (now != nullptr && card->vram_bytes >= now->vram_bytes)) continue;
    const std::string vram = size_text(static_cast<double>(card->vram_bytes));
    Change change{trial.key, card, per_card, {}};
    const Text rest =
        text(" it needs about {}: a card of {} is enough, such as the {}.",
             "，约需 {}：{} 的卡即可，如 {}。", size_text(per_card.likely), vram, card->name);
    change.sentence = {trial.what.en + rest.en, trial.what.zh + rest.zh};
    out.push_back(std::move(change));
  }
  return out;
}

DiskNeed disk_need(const MemoryRequest& request, const EstimateRules& rules) {
  const ModelShape& model = request.model;
  const double weights = (model.params + model.encoder_params + model.vae_params) * 2;
  // Those that are kept, and the one that is being written.
  const int copies = rules.checkpoints_kept + 1;
  double checkpoints = 0;
  if (request.workload == Workload::full) checkpoints = model.params * 14 * copies;
  if (request.workload == Workload::lora || request.workload == Workload::qlora) {
    checkpoints = lora_params(model, request.lora_rank) * 14 * copies;
  }
  DiskNeed need;
  need.bytes = weights + checkpoints;
  const double size =
      std::min(need.bytes * 100 / rules.disk_warn_percent / static_cast<double>(kGiB), kDiskGibMax);
  const int64_t gibs = size <= 50 ? 50 : 100 * static_cast<int64_t>(std::ceil(size / 100));
  need.data_disk_bytes = gibs * kGiB;
  const Text what =
      checkpoints > 0
          ? text(
                "Weights of {} and {} checkpoints of {} in all (keep {}, write the "
                "next before one goes)",
                "权重 {}，{} 份检查点共 {}（保留 {} 份，写完新的再删旧的）", size_text(weights),
                copies, size_text(checkpoints), rules.checkpoints_kept)
          : text("Weights of {}", "权重 {}", size_text(weights));
  const Text disk = text(
      ": a data disk of {}, so that it stays below {} %; at {} % clear it at once.",
      "：数据盘 {}，使占用低于 {}%；达到 {}% 时应立即清理。",
      for_people_bytes(need.data_disk_bytes), rules.disk_warn_percent, rules.disk_alarm_percent);
  need.sentence = {what.en + disk.en, what.zh + disk.zh};
  return need;
}

}  // namespace cardhour::estimate
