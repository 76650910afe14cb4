// What the estimator's endpoint files share. Thread-safe: pure functions.
#pragma once

#include <string>
#include <vector>

#include "adapters/http/api/support.h"
#include "domain/estimate/memory.h"
#include "domain/estimate/training.h"
#include "domain/pricing.h"
#include "wire/estimate.h"

namespace cardhour::http {

// A model as it was asked for, and the key of its preset, if it is one.
struct NamedModel {
  estimate::ModelShape shape;
  const estimate::ModelPreset* preset = nullptr;
};
Result<NamedModel> model_of(const Catalog& catalog, const wire::ModelRequest& asked);
Result<estimate::MemoryRequest> memory_request_of(const Catalog& catalog,
                                                  const wire::VramRequest& asked);
// invalid_argument names the field and the models there are.
Result<const GpuModel*> card_of(const Catalog& catalog, const std::string& word);

// As many as one instance may have.
Status check_cards(int cards);
// The live price book.
Result<PriceBook> price_book(ControlPlane& plane);

wire::ModelView render(const estimate::ModelShape& shape, const estimate::ModelPreset* preset);
wire::SizeRangeView render(const estimate::Range& range);
std::vector<wire::FormulaView> render(const std::vector<estimate::Formula>& formulas,
                                      Language language);
std::vector<std::string> render(const std::vector<Text>& texts, Language language);

// time, cost; own.
void add_estimate_money_endpoints(ControlPlane& plane, std::vector<Endpoint>& to);
void add_estimate_own_endpoints(ControlPlane& plane, std::vector<Endpoint>& to);

}  // namespace cardhour::http
