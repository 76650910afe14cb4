#include "domain/estimate/cards.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/check.h"
#include "base/size.h"

namespace cardhour::estimate {
namespace {

constexpr int kCardsMax = 16;
// Cards of this compute capability and above are newer than many framework builds.
constexpr int kNewArchitecture = 10;
// Without NVLink or the like, cards wait for one another when training.
constexpr double kSlowLink = 0.75;

bool has_fast_link(const GpuModel& card) {
  return card.interconnect.find("NVLink") != std::string::npos ||
         card.interconnect.find("HCCS") != std::string::npos;
}

bool is_cuda(const GpuModel& card) { return !card.compute_capability.empty(); }

// What the task looks at, of all its cards.
double worth(CardTask task, const CardRank& rank) {
  const GpuModel& card = *rank.card;
  switch (task) {
    case CardTask::training:
      return card.fp16_tflops * rank.cards *
             (rank.cards > 1 && !has_fast_link(card) ? kSlowLink : 1.0);
    case CardTask::inference:
      return card.bandwidth_gb_per_s * rank.cards;
    case CardTask::images:
      return static_cast<double>(card.vram_bytes / kMiB) * rank.cards;
  }
  return 0;
}

double worth_for_money(CardTask task, const CardRank& rank) {
  const double of = worth(task, rank);
  if (!rank.rate_per_hour) return of;
  return of / static_cast<double>(std::max<int64_t>(rank.rate_per_hour->micro, 1));
}

Text figure_text(CardTask task, const CardRank& rank) {
  const GpuModel& card = *rank.card;
  const std::string each = rank.cards > 1 ? fmt::format("{} × ", rank.cards) : "";
  switch (task) {
    case CardTask::training:
      return text("{}{:.0f} TFLOPS in FP16, {}", "{}{:.0f} TFLOPS（FP16），{}", each,
                  card.fp16_tflops, card.interconnect);
    case CardTask::inference:
      return text("{}{:.0f} GB/s of memory bandwidth", "显存带宽 {}{:.0f} GB/s", each,
                  card.bandwidth_gb_per_s);
    case CardTask::images:
      return text("{}{} of VRAM", "显存 {}{}", each, for_people_bytes(card.vram_bytes));
  }
  return {};
}

Text best_text(CardTask task) {
  switch (task) {
    case CardTask::training:
      return {" The most compute for the money.", "单位价格的算力最高。"};
    case CardTask::inference:
      return {" The most bandwidth for the money.", "单位价格的显存带宽最高。"};
    case CardTask::images:
      return {" The most VRAM for the money.", "单位价格的显存最大。"};
  }
  return {};
}

Text reason_of(CardTask task, const CardRank& rank, const Currency& currency) {
  const Text figure = figure_text(task, rank);
  const std::string rate = rank.rate_per_hour ? format(currency, *rank.rate_per_hour) : "";
  const Text price = rank.rate_per_hour ? text(" for {} an hour", "，每小时 {}", rate)
                                        : Text{"; not for rent here", "；此处未出租"};
  const Text fit =
      rank.fit == Fit::tight
          ? text("Tight ({} % of VRAM)", "很紧（占显存 {}%）", rank.utilisation_percent)
          : text("Fits ({} % of VRAM)", "装得下（占显存 {}%）", rank.utilisation_percent);
  return {fit.en + "; " + figure.en + price.en + ".", fit.zh + "；" + figure.zh + price.zh + "。"};
}

std::vector<CardRank> candidates(const CardsRequest& request, const Catalog& catalog) {
  std::vector<CardRank> ranks;
  if (request.need) {
    for (const CardFit& fit : card_fits(*request.need, catalog)) {
      ranks.push_back({fit.card, fit.cards, fit.fit, fit.utilisation_percent, {}, {}, {}});
    }
    return ranks;
  }
  const Range bytes{request.vram_bytes, request.vram_bytes, request.vram_bytes};
  for (const GpuModel& card : catalog.models()) {
    const auto vram = static_cast<double>(card.vram_bytes);
    const auto percent =
        static_cast<int>(std::lround(std::min(request.vram_bytes / vram, 1e4) * 100));
    ranks.push_back({&card, request.cards_max, fit_of(bytes, vram), percent, {}, {}, {}});
  }
  return ranks;
}

bool before(CardTask task, const CardRank& a, const CardRank& b) {
  if (a.rate_per_hour.has_value() != b.rate_per_hour.has_value())
    return a.rate_per_hour.has_value();
  if (is_cuda(*a.card) != is_cuda(*b.card)) return is_cuda(*a.card);
  if ((a.fit == Fit::tight) != (b.fit == Fit::tight)) return b.fit == Fit::tight;
  return worth_for_money(task, a) > worth_for_money(task, b);
}

int architecture_of(const GpuModel& card) {
  int major = 0;
  const std::string& text = card.compute_capability;
  std::from_chars(text.data(), text.data() + text.size(), major);
  return major;
}

double tflops_of(const GpuModel& card, Precision precision) {
  if (precision == Precision::fp32) return card.fp32_tflops;
  if (precision == Precision::fp16) return card.fp16_tflops;
  return std::max(card.fp16_tflops, card.int8_tops);
}

}  // namespace

Text catalog_text(const std::string& both) {
  const size_t slash = both.find(" / ");
  if (slash == std::string::npos) return {both, both};
  return {both.substr(0, slash), both.substr(slash + 3)};
}

std::vector<Text> card_warnings(const GpuModel& card, int cards, bool continuous) {
  std::vector<Text> out;
  if (!card.warning.empty()) out.push_back(catalog_text(card.warning));
  if (architecture_of(card) >= kNewArchitecture) {
    out.push_back(text(
        "Newer than many framework builds: check that yours was built for compute capability {}.",
        "比许多框架版本更新：请确认所用框架支持计算能力 {}。", card.compute_capability));
  }
  if (!card.ecc) {
    out.push_back({"No ECC: a flipped bit in a long run goes unnoticed.",
                   "无 ECC：长时间运行中的位翻转不会被发现。"});
  }
  if (!card.ecc && cards > 1 && continuous) {
    out.push_back(
        {"A consumer card: several of them day and night run hot and fail sooner; its licence may "
         "not cover data centres.",
         "消费级显卡：多卡昼夜满载发热大、更易损坏；其许可可能不适用于数据中心。"});
  }
  return out;
}

std::optional<Text> ram_warning(const GpuModel& card, int64_t ram_bytes) {
  if (ram_bytes >= card.vram_bytes) return std::nullopt;
  return text(
      "Comes here with {} of RAM, less than its VRAM: loading weights through RAM may fail.",
      "此处每卡配内存 {}，小于其显存：经内存加载权重可能失败。", for_people_bytes(ram_bytes));
}

std::vector<CardRank> rank_cards(const CardsRequest& request, const Catalog& catalog,
                                 const PriceBook& prices, const Currency& currency) {
  CHECK(request.cards_max >= 1 && request.cards_max <= kCardsMax, "a number of cards");
  std::vector<CardRank> ranks;
  for (CardRank& rank : candidates(request, catalog)) {
    if (rank.fit == Fit::no || rank.cards > request.cards_max) continue;
    const auto each = prices.per_hour(rank.card->key, Mode::on_demand);
    if (each) rank.rate_per_hour = *each * rank.cards;
    const bool too_dear = request.rate_per_hour_max && rank.rate_per_hour &&
                          *rank.rate_per_hour > *request.rate_per_hour_max;
    if (too_dear) continue;
    rank.warnings = card_warnings(*rank.card, rank.cards, request.continuous);
    rank.reason = reason_of(request.task, rank, currency);
    ranks.push_back(std::move(rank));
  }
  std::stable_sort(ranks.begin(), ranks.end(), [&](const CardRank& a, const CardRank& b) {
    return before(request.task, a, b);
  });
  if (!ranks.empty() && ranks.front().rate_per_hour) {
    const Text best = best_text(request.task);
    ranks.front().reason.en += best.en;
    ranks.front().reason.zh += best.zh;
  }
  return ranks;
}

Text cards_summary(const std::vector<CardRank>& ranks) {
  if (ranks.empty()) {
    return {
        "Nothing fits within these bounds: allow more cards, a higher price, or make it smaller "
        "(estimate vram shows how).",
        "在此条件下没有合适的显卡：请放宽卡数或价格，或减小需求（estimate vram 会说明如何减小）。"};
  }
  const CardRank& best = ranks.front();
  return {fmt::format("{} × {}. {}", best.cards, best.card->name, best.reason.en),
          fmt::format("{} × {}。{}", best.cards, best.card->name, best.reason.zh)};
}

Status check(const ThroughputRequest& request) {
  if (request.model.kind != ModelKind::language) {
    return invalid("model",
                   Text{"tokens a second are of language models", "每秒词元数只适用于语言模型"});
  }
  MemoryRequest memory;
  memory.model = request.model;
  memory.context = request.context;
  memory.sequences = request.sequences;
  memory.cards = request.cards;
  return check(memory);
}

Throughput throughput_bounds(const ThroughputRequest& request, const GpuModel& card) {
  CHECK(check(request).has_value(), "a request that was checked");
  const ModelShape& model = request.model;
  const double weights = model.active_params * bytes_of(request.precision);
  const double cache = kv_values_per_token(model) * bytes_of(request.kv_precision) *
                       request.context * request.sequences;
  const double bandwidth = card.bandwidth_gb_per_s * 1e9 * request.cards;
  const double operations = tflops_of(card, request.precision) * 1e12 * request.cards;
  const double by_bandwidth = bandwidth / (weights + cache) * request.sequences;
  const double by_compute = operations / (2 * model.active_params);
  Throughput out;
  out.bandwidth_bound = by_bandwidth <= by_compute;
  out.decode = std::min(by_bandwidth, by_compute);
  out.decode_per_sequence = out.decode / request.sequences;
  out.prefill = by_compute;
  out.formulas = {
      {{"decode, bound by bandwidth: cards × bandwidth / (weights + cache) × sequences",
        "生成，受带宽限制：卡数 × 带宽 / (权重 + 缓存) × 并发"},
       fmt::format("{} × {:.0f} GB/s / ({:.1f} GB + {:.1f} GB) × {} = {:.1f}", request.cards,
                   card.bandwidth_gb_per_s, weights / 1e9, cache / 1e9, request.sequences,
                   by_bandwidth)},
      {{"decode and prompt, bound by compute: cards × operations / (2 × active parameters)",
        "生成与提示词，受算力限制：卡数 × 算力 / (2 × 激活参数)"},
       fmt::format("{} × {:.0f} TFLOPS / (2 × {}) = {:.0f}", request.cards,
                   tflops_of(card, request.precision), params_text(model.active_params),
                   by_compute)}};
  return out;
}

Text throughput_sentence(const ThroughputRequest& request, const Throughput& bounds,
                         const GpuModel& card) {
  const Text limit = bounds.bandwidth_bound ? Text{"bandwidth", "带宽"} : Text{"compute", "算力"};
  const auto in = [&](const char* format, const std::string& limited_by) {
    return fmt::format(fmt::runtime(format), request.cards, card.name, bounds.decode,
                       bounds.decode_per_sequence, request.sequences, limited_by);
  };
  return {
      in("{0} × {1}: at most {2:.0f} tokens a second ({3:.0f} for each of {4} sequences), limited "
         "by "
         "{5}.",
         limit.en),
      in("{0} × {1}：每秒最多 {2:.0f} 个词元（{4} 路并发，每路 {3:.0f}），受{5}限制。", limit.zh)};
}

}  // namespace cardhour::estimate
