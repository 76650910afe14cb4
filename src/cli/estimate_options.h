// What the estimate commands share: their options, and what people type as values. Not
// thread-safe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/context.h"
#include "wire/estimate.h"

namespace cardhour::cli {

// --model, --params, --file, --kv-heads, and what is added to them.
std::vector<Option> with_model_options(std::vector<Option> more);
// --explain, and what is added to it.
std::vector<Option> with_explain(std::vector<Option> more);

// invalid_argument unless exactly one of --model, --params and --file was given.
Result<wire::ModelRequest> model_asked(const Arguments& arguments);
// What shall run, of the options of `estimate vram`.
Result<wire::VramRequest> workload_asked(const Arguments& arguments);
std::vector<Option> workload_options();
// What shall be served: fewer of them.
Result<wire::ThroughputRequest> serving_asked(const Arguments& arguments);
std::vector<Option> serving_options();

// Each leaves `to` alone when the option was not typed; errors name what was expected.
Status read_count(const Arguments& arguments, const char* name, int lowest, int highest, int& to);
Status read_number(const Arguments& arguments, const char* name, double lowest, double highest,
                   double& to);
Status read_length(const Arguments& arguments, const char* name, std::optional<Duration>& to);
Status read_bytes_of(const Arguments& arguments, const char* name, int64_t& to);
Status read_money(const Arguments& arguments, const char* name, std::optional<Money>& to);
Status read_tokens(const Arguments& arguments, const char* name, int& to);
// "900ms", "0.9s", "0.9": seconds.
Status read_seconds(const Arguments& arguments, const char* name, std::optional<double>& to);

// Asks the server; the JSON of its answer. Prints it and returns nothing with --json.
template <class Answer, class Request>
Result<std::optional<Answer>> asked(Context& context, const char* path, const Request& request);

// "12.5 GiB to 18 GiB".
std::string span_text(const Context& context, const wire::SizeRangeView& size);
// "4.7 h": card-hours and the like.
std::string hours_text(const Context& context, Duration time);
void print_formulas(const Context& context, const std::vector<wire::FormulaView>& formulas);
void print_lines(const Context& context, const std::vector<std::string>& lines);
std::string fit_text(const Context& context, estimate::Fit fit);

}  // namespace cardhour::cli
