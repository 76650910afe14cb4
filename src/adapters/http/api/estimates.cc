// The estimator: VRAM, throughput, cards, presets. Time and money are in estimate_money.cc.
#include "adapters/http/api/estimates.h"

#include <cmath>

#include "base/limits.h"
#include "domain/estimate/cards.h"
#include "domain/estimate/price.h"

namespace cardhour::http {
namespace {

using estimate::MemoryRequest;
using estimate::ModelShape;

constexpr size_t kBesideMax = 8;

int64_t bytes(double value) { return static_cast<int64_t>(std::llround(std::min(value, 9e18))); }

ModelShape shape_of(const wire::ModelShapeRequest& asked) {
  ModelShape shape;
  shape.name = asked.name;
  shape.kind = asked.kind;
  shape.params = asked.params;
  shape.active_params = asked.active_params;
  shape.layers = asked.layers;
  shape.hidden = asked.hidden;
  shape.heads = asked.heads;
  shape.kv_heads = asked.kv_heads;
  shape.head_dim = asked.head_dim;
  shape.ffn = asked.ffn;
  shape.vocab = asked.vocab;
  shape.experts = asked.experts;
  shape.experts_active = asked.experts_active;
  shape.tied = asked.tied;
  shape.kv_values_per_layer = asked.kv_values_per_layer;
  shape.encoder_params = asked.encoder_params;
  shape.vae_params = asked.vae_params;
  shape.image_side = asked.image_side;
  return shape;
}

Result<MemoryRequest> served_of(const Catalog& catalog, const wire::ServedModelRequest& asked) {
  MemoryRequest request;
  TRY_ASSIGN(const NamedModel model, model_of(catalog, asked.model));
  request.model = model.shape;
  request.precision = asked.precision;
  request.kv_precision = asked.kv_precision;
  request.context = asked.context;
  request.sequences = asked.sequences;
  if (request.model.kind == estimate::ModelKind::diffusion) {
    request.workload = estimate::Workload::diffusion;
  }
  return request;
}

// ---- VRAM ----

std::vector<wire::VramPartView> parts_of(const estimate::Memory& memory, Language language) {
  std::vector<wire::VramPartView> views;
  for (const estimate::MemoryPart& part : memory.parts) {
    views.push_back({part.key, part.name.in(language), render(part.bytes),
                     part.terms.in(language) + ": " + part.formula});
  }
  return views;
}

wire::VramFitView fit_view(const estimate::CardFit& fit, const PriceBook& prices,
                           Language language) {
  wire::VramFitView view;
  view.gpu_model = fit.card->key;
  view.gpu_name = fit.card->name;
  view.vram_bytes = fit.card->vram_bytes;
  view.cards = fit.cards;
  view.per_card = render(fit.per_card);
  view.fit = fit.fit;
  view.fit_alone = fit.fit_alone;
  view.utilisation_percent = fit.utilisation_percent;
  if (const auto each = prices.per_hour(fit.card->key, Mode::on_demand)) {
    view.rate_per_hour = *each * fit.cards;
  }
  view.sentence = fit.sentence.in(language);
  return view;
}

Result<Response> estimate_vram(ControlPlane& plane, const Request& request) {
  TRY_ASSIGN(const auto asked, body_of<wire::VramRequest>(request));
  const Catalog& catalog = plane.deps.catalog;
  TRY_ASSIGN(const NamedModel model, model_of(catalog, asked.model));
  TRY_ASSIGN(const MemoryRequest need, memory_request_of(catalog, asked));
  TRY_ASSIGN(const PriceBook book, price_book(plane));
  const Language language = request.language;
  const estimate::Memory memory = memory_of(need);
  wire::VramView view;
  view.model = render(model.shape, model.preset);
  view.sentence = memory_summary(need, memory).in(language);
  view.parts = parts_of(memory, language);
  view.per_card = render(memory.per_card);
  view.all_cards = render(memory.all_cards);
  for (const estimate::CardFit& fit : card_fits(need, catalog)) {
    view.fits.push_back(fit_view(fit, book, language));
  }
  for (const estimate::Change& change : changes(need, catalog)) {
    view.changes.push_back(
        {change.key, change.card->key, render(change.per_card), change.sentence.in(language)});
  }
  const estimate::DiskNeed disk = disk_need(need, plane.deps.policy.estimates);
  view.disk = {bytes(disk.bytes), disk.data_disk_bytes, disk.sentence.in(language)};
  view.warnings = render(memory_warnings(need), language);
  return answer(200, view);
}

// ---- throughput ----

Result<estimate::ThroughputRequest> throughput_request_of(const Catalog& catalog,
                                                          const wire::ThroughputRequest& asked) {
  estimate::ThroughputRequest request;
  TRY_ASSIGN(const NamedModel model, model_of(catalog, asked.model));
  request.model = model.shape;
  request.precision = asked.precision;
  request.kv_precision = asked.kv_precision;
  request.context = asked.context;
  request.sequences = asked.sequences;
  request.cards = asked.cards;
  TRY(check(request));
  return request;
}

bool fits_on(const estimate::ThroughputRequest& request, const GpuModel& card) {
  MemoryRequest need;
  need.model = request.model;
  need.precision = request.precision;
  need.kv_precision = request.kv_precision;
  need.context = request.context;
  need.sequences = request.sequences;
  const estimate::Memory memory = memory_of(spread(need, request.cards));
  const auto fit = fit_of(memory.per_card, static_cast<double>(card.vram_bytes));
  return fit == estimate::Fit::comfortable || fit == estimate::Fit::fits;
}

wire::ThroughputRowView throughput_row(const estimate::ThroughputRequest& request,
                                       const GpuModel& card, const PriceBook& prices,
                                       Language language) {
  const estimate::Throughput bounds = throughput_bounds(request, card);
  wire::ThroughputRowView view;
  view.gpu_model = card.key;
  view.gpu_name = card.name;
  view.cards = request.cards;
  view.decode_tokens_per_s_max = bounds.decode;
  view.decode_tokens_per_s_per_sequence_max = bounds.decode_per_sequence;
  view.prefill_tokens_per_s_max = bounds.prefill;
  view.decode_bound_by = bounds.bandwidth_bound ? "bandwidth" : "compute";
  view.fits = fits_on(request, card);
  if (const auto each = prices.per_hour(card.key, Mode::on_demand)) {
    view.rate_per_hour = *each * request.cards;
    view.cost_per_million_tokens_min =
        due(Rate{*view.rate_per_hour}, 1, estimate::duration_of(1e6 / bounds.decode));
  }
  view.formulas = render(bounds.formulas, language);
  view.sentence = throughput_sentence(request, bounds, card).in(language);
  return view;
}

Result<Response> estimate_throughput(ControlPlane& plane, const Request& request) {
  TRY_ASSIGN(const auto asked, body_of<wire::ThroughputRequest>(request));
  const Catalog& catalog = plane.deps.catalog;
  TRY_ASSIGN(const NamedModel model, model_of(catalog, asked.model));
  TRY_ASSIGN(const auto bounds, throughput_request_of(catalog, asked));
  const GpuModel* only = nullptr;
  if (asked.gpu_model) {
    TRY_ASSIGN(only, card_of(catalog, *asked.gpu_model));
  }
  TRY_ASSIGN(const PriceBook book, price_book(plane));
  wire::ThroughputView view;
  view.model = render(model.shape, model.preset);
  view.sentence =
      Text{
          "Upper bounds from published bandwidth and compute: no server is faster, real "
          "ones are slower.",
          "由公开的带宽与算力得出的上限：任何服务都不会更快，实际会更慢。"}
          .in(request.language);
  for (const GpuModel& card : catalog.models()) {
    if (only != nullptr && only != &card) continue;
    view.rows.push_back(throughput_row(bounds, card, book, request.language));
  }
  return answer(200, view);
}

// ---- cards ----

Result<estimate::CardsRequest> cards_request_of(const Catalog& catalog,
                                                const wire::CardsRequest& asked) {
  TRY(check_cards(asked.cards));
  if (asked.need.has_value() == (asked.vram_bytes > 0)) {
    return invalid("vram_bytes", Text{"what is needed: need, or vram_bytes above 0",
                                      "需要说明需求：need，或大于 0 的 vram_bytes"});
  }
  estimate::CardsRequest request;
  request.task = asked.task;
  request.vram_bytes = static_cast<double>(asked.vram_bytes);
  request.cards_max = asked.cards;
  request.continuous = asked.continuous;
  request.rate_per_hour_max = asked.rate_per_hour_max;
  if (asked.need) {
    TRY_ASSIGN(request.need, memory_request_of(catalog, *asked.need));
  }
  return request;
}

// Of the host that gives the least RAM with this card.
std::optional<Text> ram_warning_here(const GpuModel& card, const std::vector<Offer>& offers) {
  std::optional<Text> warning;
  int64_t least = card.vram_bytes;
  for (const Offer& offer : offers) {
    if (offer.model != card.key || offer.memory_bytes_per_card >= least) continue;
    least = offer.memory_bytes_per_card;
    warning = estimate::ram_warning(card, least);
  }
  return warning;
}

Result<Response> estimate_cards(ControlPlane& plane, const Request& request) {
  TRY_ASSIGN(const auto asked, body_of<wire::CardsRequest>(request));
  TRY_ASSIGN(const auto wanted, cards_request_of(plane.deps.catalog, asked));
  TRY_ASSIGN(const PriceBook book, price_book(plane));
  TRY_ASSIGN(const auto offers, plane.inventory.offers(actor_of(request).account));
  const auto ranks = rank_cards(wanted, plane.deps.catalog, book, plane.deps.policy.currency);
  const Language language = request.language;
  wire::CardsView view;
  view.sentence = cards_summary(ranks).in(language);
  for (const estimate::CardRank& rank : ranks) {
    wire::CardRankView row;
    row.rank = static_cast<int>(view.rows.size()) + 1;
    row.gpu_model = rank.card->key;
    row.gpu_name = rank.card->name;
    row.cards = rank.cards;
    row.utilisation_percent = rank.utilisation_percent;
    row.fit = rank.fit;
    row.rate_per_hour = rank.rate_per_hour;
    row.reason = rank.reason.in(language);
    row.warnings = render(rank.warnings, language);
    if (const auto warning = ram_warning_here(*rank.card, offers)) {
      row.warnings.push_back(warning->in(language));
    }
    row.gpu = render(*rank.card);
    row.gpu.on_demand_per_hour = book.per_hour(rank.card->key, Mode::on_demand);
    view.rows.push_back(std::move(row));
  }
  return answer(200, view);
}

Result<Response> preset_list(ControlPlane& plane, const Request&) {
  std::vector<wire::ModelView> views;
  for (const estimate::ModelPreset& preset : plane.deps.catalog.presets().all()) {
    views.push_back(render(preset.shape, &preset));
  }
  return list_answer(std::move(views));
}

}  // namespace

Result<NamedModel> model_of(const Catalog& catalog, const wire::ModelRequest& asked) {
  const int given = (asked.preset ? 1 : 0) + (asked.params ? 1 : 0) + (asked.shape ? 1 : 0);
  if (given != 1) {
    return invalid("model",
                   Text{"a model is one of preset, params or shape",
                        "model 需要 preset、params、shape 三者之一"},
                   text("presets: {}", "预设：{}", catalog.presets().keys()));
  }
  if (asked.preset) {
    const estimate::ModelPreset* preset = catalog.presets().by_word(*asked.preset);
    if (preset != nullptr) return NamedModel{preset->shape, preset};
    return invalid("preset",
                   text("there is no preset \"{}\"", "没有预设“{}”", asked.preset->substr(0, 60)),
                   text("known: {}; or say its size, like 7B", "可用：{}；或直接给出大小，如 7B",
                        catalog.presets().keys()));
  }
  if (asked.params) {
    TRY_ASSIGN(const double params, estimate::parse_params(*asked.params));
    return NamedModel{estimate::shape_of_params(params)};
  }
  TRY_ASSIGN(ModelShape shape, estimate::completed(shape_of(*asked.shape)));
  return NamedModel{std::move(shape)};
}

Result<MemoryRequest> memory_request_of(const Catalog& catalog, const wire::VramRequest& asked) {
  MemoryRequest request;
  TRY_ASSIGN(const NamedModel model, model_of(catalog, asked.model));
  request.model = model.shape;
  request.workload = asked.workload;
  // A model that makes images serves images: nobody has to say so.
  const bool draws = model.shape.kind == estimate::ModelKind::diffusion;
  if (draws && asked.workload == estimate::Workload::inference) {
    request.workload = estimate::Workload::diffusion;
  }
  request.precision = asked.precision;
  request.kv_precision = asked.kv_precision;
  request.context = asked.context;
  request.sequences = asked.sequences;
  request.optimizer = asked.optimizer;
  request.checkpointing =
      asked.gradient_checkpointing ? estimate::Checkpointing::on : estimate::Checkpointing::off;
  request.lora_rank = asked.lora_rank;
  request.zero_stage = asked.zero_stage;
  request.tensor_parallel = asked.tensor_parallel;
  request.cards = asked.cards;
  request.image_side = asked.image_side;
  if (asked.beside.size() > kBesideMax) {
    return invalid("beside", text("at most {} models beside it", "同卡模型最多 {} 个", kBesideMax));
  }
  for (const wire::ServedModelRequest& other : asked.beside) {
    TRY_ASSIGN(MemoryRequest served, served_of(catalog, other));
    request.beside.push_back(std::move(served));
  }
  TRY(check(request));
  return request;
}

Result<const GpuModel*> card_of(const Catalog& catalog, const std::string& word) {
  const GpuModel* card = catalog.by_word(word);
  if (card != nullptr) return card;
  return invalid(
      "gpu_model",
      text("\"{}\" is not one GPU model", "“{}” 不是唯一的 GPU 型号", word.substr(0, 60)),
      text("known: {}", "可用型号：{}", catalog.keys()));
}

Status check_cards(int cards) {
  if (cards >= 1 && cards <= limits::kCardsPerInstanceMax) return {};
  return invalid("cards", text("cards must be 1 to {}", "cards 必须在 1 到 {} 之间",
                               limits::kCardsPerInstanceMax));
}

Result<PriceBook> price_book(ControlPlane& plane) {
  TRY_ASSIGN(auto prices, plane.inventory.prices());
  return PriceBook(std::move(prices));
}

wire::ModelView render(const ModelShape& shape, const estimate::ModelPreset* preset) {
  wire::ModelView view;
  view.key = preset != nullptr ? preset->key : "";
  view.source = preset != nullptr ? preset->source : "";
  view.name = shape.name;
  view.kind = shape.kind;
  view.params = shape.params;
  view.active_params = shape.active_params;
  view.layers = shape.layers;
  view.hidden = shape.hidden;
  view.heads = shape.heads;
  view.kv_heads = shape.kv_heads;
  view.head_dim = shape.head_dim;
  view.vocab = shape.vocab;
  view.experts = shape.experts;
  view.kv_bytes_per_token = bytes(2 * kv_values_per_token(shape));
  view.image_side = shape.image_side;
  return view;
}

wire::SizeRangeView render(const estimate::Range& range) {
  return {bytes(range.low), bytes(range.likely), bytes(range.high)};
}

std::vector<wire::FormulaView> render(const std::vector<estimate::Formula>& formulas,
                                      Language language) {
  std::vector<wire::FormulaView> views;
  for (const estimate::Formula& each : formulas) {
    views.push_back({each.name.in(language), each.formula});
  }
  return views;
}

std::vector<std::string> render(const std::vector<Text>& texts, Language language) {
  std::vector<std::string> out;
  for (const Text& each : texts) out.push_back(each.in(language));
  return out;
}

void add_estimate_endpoints(ControlPlane& plane, std::vector<Endpoint>& to) {
  to.push_back({.method = Method::get,
                .path = "/api/v1/estimates/presets",
                .permission = Permission::read,
                .operation_id = "estimate_preset_list",
                .summary = {"Models that estimates know by name", "估算器已知的模型"},
                .handler = on(plane, preset_list),
                .response = page_schema<wire::ModelView>});
  to.push_back({.method = Method::post,
                .path = "/api/v1/estimates/vram",
                .permission = Permission::read,
                .operation_id = "estimate_vram",
                .summary = {"How much VRAM a model needs, and which cards carry it",
                            "模型需要多少显存、哪些卡装得下"},
                .handler = on(plane, estimate_vram),
                .request = request_schema_of<wire::VramRequest>,
                .response = schema_of<wire::VramView>});
  to.push_back({.method = Method::post,
                .path = "/api/v1/estimates/throughput",
                .permission = Permission::read,
                .operation_id = "estimate_throughput",
                .summary = {"Upper bounds of tokens a second", "每秒词元数的上限"},
                .handler = on(plane, estimate_throughput),
                .request = request_schema_of<wire::ThroughputRequest>,
                .response = schema_of<wire::ThroughputView>});
  to.push_back({.method = Method::post,
                .path = "/api/v1/estimates/cards",
                .permission = Permission::read,
                .operation_id = "estimate_cards",
                .summary = {"Cards ranked for a task", "按任务推荐显卡"},
                .handler = on(plane, estimate_cards),
                .request = request_schema_of<wire::CardsRequest>,
                .response = schema_of<wire::CardsView>});
  add_estimate_money_endpoints(plane, to);
  add_estimate_own_endpoints(plane, to);
}

}  // namespace cardhour::http
