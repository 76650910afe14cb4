// What there is to rent: offers, prices, GPU models, images.
#include "adapters/http/api/support.h"
#include "base/size.h"

namespace cardhour::http {
namespace {

wire::OfferView render(const Offer& offer) {
  wire::OfferView view;
  view.model = offer.model;
  view.host_id = offer.host_id;
  view.host = offer.host;
  view.reachable = offer.reachable;
  view.simulated = offer.simulated;
  view.cards_total = offer.cards_total;
  view.cards_free = offer.cards_free;
  view.tenants = offer.tenants;
  view.millicores_per_card = offer.millicores_per_card;
  view.memory_per_card_bytes = offer.memory_bytes_per_card;
  view.disk_free_bytes = offer.disk_free_bytes;
  view.driver_version = offer.driver_version;
  view.cuda_version = offer.cuda_version;
  view.on_demand_per_hour = offer.on_demand_per_hour;
  view.no_gpu_per_hour = offer.no_gpu_per_hour;
  view.gpu = http::render(offer.specification);
  view.gpu.on_demand_per_hour = offer.on_demand_per_hour;
  return view;
}

// `?vram=24G` (at least) and `?model=4090`.
struct OfferFilter {
  int64_t vram_bytes_min = 0;
  std::string model;  // empty: any

  bool takes(const Offer& offer) const {
    return offer.specification.vram_bytes >= vram_bytes_min &&
           (model.empty() || offer.model == model);
  }
};

Result<OfferFilter> filter_of(const Catalog& catalog, const Request& request) {
  OfferFilter filter;
  if (const auto vram = request.query_value("vram")) {
    TRY_ASSIGN(filter.vram_bytes_min, in_field("vram", parse_size(*vram)));
  }
  if (const auto word = request.query_value("model")) {
    const GpuModel* model = catalog.by_word(*word);
    if (model == nullptr) {
      return invalid("model",
                     text("\"{}\" is not one GPU model", "“{}” 不是唯一的 GPU 型号", *word),
                     text("known: {}", "可用型号：{}", catalog.keys()));
    }
    filter.model = model->key;
  }
  return filter;
}

Result<Response> offer_list(ControlPlane& plane, const Request& request) {
  TRY_ASSIGN(const OfferFilter filter, filter_of(plane.deps.catalog, request));
  TRY_ASSIGN(const auto offers, plane.inventory.offers(actor_of(request).account));
  std::vector<wire::OfferView> views;
  for (const Offer& offer : offers) {
    if (filter.takes(offer)) views.push_back(render(offer));
  }
  return list_answer(std::move(views));
}

Result<Response> price_list(ControlPlane& plane, const Request&) {
  TRY_ASSIGN(const auto prices, plane.inventory.prices());
  std::vector<wire::PriceView> views;
  for (const Price& price : prices) {
    views.push_back(wire::PriceView{price.model, price.mode, price.per_hour});
  }
  return list_answer(std::move(views));
}

Result<Response> gpu_model_list(ControlPlane& plane, const Request&) {
  TRY_ASSIGN(const auto prices, plane.inventory.prices());
  const PriceBook book(prices);
  std::vector<wire::GpuModelView> views;
  for (const GpuModel& model : plane.deps.catalog.models()) {
    views.push_back(http::render(model));
    views.back().on_demand_per_hour = book.per_hour(model.key, Mode::on_demand);
  }
  return list_answer(std::move(views));
}

Result<Response> image_list(ControlPlane& plane, const Request&) {
  TRY_ASSIGN(const auto names, plane.inventory.images());
  std::vector<wire::ImageView> views;
  for (const std::string& name : names) views.push_back(wire::ImageView{name});
  return list_answer(std::move(views));
}

}  // namespace

void add_market_endpoints(ControlPlane& plane, std::vector<Endpoint>& to) {
  to.push_back({.method = Method::get,
                .path = "/api/v1/offers",
                .permission = Permission::read,
                .operation_id = "offer_list",
                .summary = {"What can be rented: one row per model and host",
                            "可租用的显卡：每个型号、每台主机一行"},
                .handler = on(plane, offer_list),
                .response = page_schema<wire::OfferView>,
                .query = {{"vram", {"at least this much, e.g. 24G", "显存至少，例如 24G"}},
                          {"model", {"a key or a word, e.g. 4090", "型号，例如 4090"}}}});
  to.push_back({.method = Method::get,
                .path = "/api/v1/prices",
                .permission = Permission::read,
                .operation_id = "price_list",
                .summary = {"The price book", "价目表"},
                .handler = on(plane, price_list),
                .response = page_schema<wire::PriceView>});
  to.push_back({.method = Method::get,
                .path = "/api/v1/gpu-models",
                .permission = Permission::read,
                .operation_id = "gpu_model_list",
                .summary = {"GPU models with published figures", "GPU 型号与公开参数"},
                .handler = on(plane, gpu_model_list),
                .response = page_schema<wire::GpuModelView>});
  to.push_back({.method = Method::get,
                .path = "/api/v1/images",
                .permission = Permission::read,
                .operation_id = "image_list",
                .summary = {"Images to start from", "可用镜像"},
                .handler = on(plane, image_list),
                .response = page_schema<wire::ImageView>});
}

}  // namespace cardhour::http
