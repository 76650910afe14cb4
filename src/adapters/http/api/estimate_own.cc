// The estimator: own or rent.
#include "adapters/http/api/estimates.h"
#include "domain/estimate/price.h"

namespace cardhour::http {
namespace {

// What the request leaves out has the deployment's default.
estimate::OwnRequest own_request_of(const wire::OwnRequest& asked, const EstimateRules& rules,
                                    Money rent_per_hour) {
  estimate::OwnRequest request;
  request.rent_per_hour = rent_per_hour;
  request.hours_per_month = asked.hours_per_month;
  request.machine_price = asked.machine_price.value_or(rules.machine_price);
  request.machine_watts = asked.machine_watts.value_or(rules.machine_watts);
  request.price_per_kwh = asked.price_per_kwh.value_or(rules.price_per_kwh);
  request.value_lost_percent = asked.value_lost_percent.value_or(rules.value_lost_percent);
  request.upkeep_per_month = asked.upkeep_per_month;
  request.months = asked.months;
  request.steady = asked.steady;
  request.data_must_stay = asked.data_must_stay;
  return request;
}

wire::OwnView own_view(const estimate::Own& own, Language language) {
  wire::OwnView view;
  view.advice = own.advice;
  view.sentence = own.sentence.in(language);
  view.reasons = render(own.reasons, language);
  view.own_per_month = own.at.own_per_month;
  view.rent_per_month = own.at.rent_per_month;
  view.own_per_hour = own.at.own_per_hour;
  view.value_lost_per_month = own.value_lost_per_month;
  view.power_per_hour = own.power_per_hour;
  view.energy_kwh_per_month = own.energy_kwh_per_month;
  view.break_even_hours = own.break_even_hours;
  for (const estimate::OwnPoint& point : own.curve) {
    view.curve.push_back(
        {point.hours, point.own_per_month, point.rent_per_month, point.own_per_hour});
  }
  view.formulas = render(own.formulas, language);
  return view;
}

Result<Response> estimate_own(ControlPlane& plane, const Request& request) {
  TRY_ASSIGN(const auto asked, body_of<wire::OwnRequest>(request));
  const Policy& policy = plane.deps.policy;
  TRY_ASSIGN(const GpuModel* card, card_of(plane.deps.catalog, asked.gpu_model));
  TRY(check_cards(asked.cards));
  TRY_ASSIGN(const PriceBook prices, price_book(plane));
  const auto each = prices.per_hour(card->key, Mode::on_demand);
  if (!each) {
    return fail(ErrorCode::not_found,
                text("{} is not for rent here: there is no price to compare with",
                     "此处未出租 {}：没有可比较的价格", card->name),
                Text{"choose a model of `cardhour prices`", "请从 `cardhour prices` 中选择型号"});
  }
  const auto wanted = own_request_of(asked, policy.estimates, *each * asked.cards);
  TRY(check(wanted));
  wire::OwnView view =
      own_view(own_or_rent(wanted, policy.estimates, policy.currency), request.language);
  view.rent_per_hour = wanted.rent_per_hour;
  view.rule_hours = policy.estimates.own_rule_hours;
  return answer(200, view);
}

}  // namespace

void add_estimate_own_endpoints(ControlPlane& plane, std::vector<Endpoint>& to) {
  to.push_back({.method = Method::post,
                .path = "/api/v1/estimates/own",
                .permission = Permission::read,
                .operation_id = "estimate_own",
                .summary = {"Owning a machine against renting", "自有机器与租用的比较"},
                .handler = on(plane, estimate_own),
                .request = request_schema_of<wire::OwnRequest>,
                .response = schema_of<wire::OwnView>});
}

}  // namespace cardhour::http
