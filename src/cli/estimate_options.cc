#include "cli/estimate_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/enum_text.h"
#include "base/size.h"
#include "cli/decode.h"
#include "cli/format.h"
#include "cli/model_file.h"
#include "cli/terminal.h"
#include "cli/width.h"

namespace cardhour::cli {
namespace {

tl::unexpected<Error> bad_value(const char* name, const std::string& typed, const Text& expected) {
  return invalid(name, text("{} cannot be \"{}\"", "{} 不能是“{}”", name, clean(typed)), expected);
}

// The number at the front; what follows it stays in `rest`.
std::optional<double> leading_number(std::string_view typed, std::string_view& rest) {
  double value = 0;
  const auto [at, error] =
      std::from_chars(typed.data(), typed.data() + typed.size(), value, std::chars_format::fixed);
  if (error != std::errc{}) return std::nullopt;
  rest = typed.substr(static_cast<size_t>(at - typed.data()));
  return value;
}

// "adam-8bit" is adam_8bit on the wire.
template <class E>
void read_word(const Arguments& arguments, const char* name, E& to) {
  const auto typed = arguments.find(name);
  if (!typed) return;
  std::string word = *typed;
  std::replace(word.begin(), word.end(), '-', '_');
  if (const auto value = enum_from<E>(word)) to = *value;
}

// The options that every workload has.
template <class Request>
Status read_serving(const Arguments& arguments, Request& request) {
  read_word(arguments, "--precision", request.precision);
  read_word(arguments, "--kv", request.kv_precision);
  TRY(read_tokens(arguments, "--context", request.context));
  TRY(read_count(arguments, "--sequences", 1, 65'536, request.sequences));
  return read_count(arguments, "--cards", 1, 1024, request.cards);
}

// "13B:int4,qwen-7b": other models beside it, with the same context.
Status read_beside(const Arguments& arguments, wire::VramRequest& request) {
  std::string list = arguments.text("--beside");
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    const std::string item = list.substr(0, comma);
    list = list.substr(std::min(comma + 1, list.size()));
    const size_t colon = item.find(':');
    wire::ServedModelRequest served;
    const std::string model = item.substr(0, colon);
    if (estimate::parse_params(model)) {
      served.model.params = model;
    } else {
      served.model.preset = model;
    }
    if (colon != std::string::npos) {
      const auto precision = enum_from<estimate::Precision>(item.substr(colon + 1));
      if (!precision) {
        return bad_value("--beside", item,
                         {"Write it like 13B:int4,qwen-7b:fp16 (fp32, fp16, int8, int4).",
                          "请写成 13B:int4,qwen-7b:fp16（fp32、fp16、int8、int4）。"});
      }
      served.precision = *precision;
    }
    served.context = request.context;
    served.sequences = request.sequences;
    request.beside.push_back(std::move(served));
  }
  return {};
}

}  // namespace

std::vector<Option> with_explain(std::vector<Option> more) {
  more.push_back({"--explain", "", {"every formula with its numbers", "列出每个公式及其数值"}});
  return more;
}

std::vector<Option> with_model_options(std::vector<Option> more) {
  std::vector<Option> options = {
      {"--model",
       "llama-3.1-8b",
       {"a preset: cardhour estimate presets", "预设：cardhour estimate presets"}},
      {"--params", "7B", {"or only its size", "或只给出参数量"}},
      {"--file",
       "PATH",
       {"or its config.json, or the header of its .safetensors; nothing is uploaded",
        "或其 config.json、.safetensors 文件头；不会上传文件"}},
      {"--kv-heads",
       "8",
       {"with --params: KV heads, if fewer than heads", "与 --params 同用：KV 头数"}}};
  options.insert(options.end(), more.begin(), more.end());
  return with_explain(std::move(options));
}

std::vector<Option> serving_options() {
  return {{"--precision",
           "fp32|fp16|int8|int4",
           {"of the weights; fp16 (or BF16) if absent", "权重精度，默认 fp16（或 BF16）"},
           {"fp32", "fp16", "int8", "int4"}},
          {"--kv",
           "fp32|fp16|int8|int4",
           {"precision of the KV cache", "KV 缓存精度"},
           {"fp32", "fp16", "int8", "int4"}},
          {"--context", "4096", {"tokens a sequence; 8K is 8192", "每个序列的词元数；8K 即 8192"}},
          {"--sequences",
           "1",
           {"at once; the batch of one card when training; images",
            "并发数；训练时为单卡批量；图像数"}},
          {"-n,--cards", "1", {"cards in all", "总卡数"}}};
}

std::vector<Option> workload_options() {
  std::vector<Option> options = serving_options();
  const std::vector<Option> more = {
      {"--for",
       "inference|lora|qlora|full|diffusion",
       {"what shall run; inference if absent", "任务类型，默认推理"},
       {"inference", "lora", "qlora", "full", "diffusion"}},
      {"--optimizer",
       "adam|adam-8bit",
       {"of full training", "全参训练的优化器"},
       {"adam", "adam-8bit"}},
      {"--no-checkpointing", "", {"keep all activations", "不使用梯度检查点"}},
      {"--rank", "16", {"of LoRA", "LoRA 的秩"}},
      {"--zero", "0..3", {"ZeRO stage", "ZeRO 阶段"}},
      {"--tensor-parallel", "1", {"cards that split each layer", "张量并行卡数"}},
      {"--image", "1024", {"side of an image, for diffusion", "图像边长（图像模型）"}},
      {"--beside",
       "13B:int4,...",
       {"other models served by the same card", "同卡提供服务的其他模型"}}};
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

Result<wire::ModelRequest> model_asked(const Arguments& arguments) {
  const int given = (arguments.has("--model") ? 1 : 0) + (arguments.has("--params") ? 1 : 0) +
                    (arguments.has("--file") ? 1 : 0);
  if (given != 1) {
    return invalid("--model",
                   Text{"say which model, once: --model, --params or --file",
                        "请用 --model、--params、--file 之一指定模型"},
                   Text{"For example: --model llama-3.1-8b, --params 7B, --file config.json",
                        "例如：--model llama-3.1-8b、--params 7B、--file config.json"});
  }
  wire::ModelRequest model;
  model.preset = arguments.find("--model");
  if (arguments.has("--file")) {
    TRY_ASSIGN(model.shape, read_model_file(arguments.text("--file")));
  }
  const auto size = arguments.find("--params");
  if (!size) return model;
  TRY_ASSIGN(const double params, estimate::parse_params(*size));
  TRY_ASSIGN(const auto kv_heads, arguments.number("--kv-heads", 1, 1024));
  if (!kv_heads) {
    model.params = *size;
    return model;
  }
  wire::ModelShapeRequest shape;
  shape.params = params;
  shape.kv_heads = static_cast<int>(*kv_heads);
  model.shape = shape;
  return model;
}

Result<wire::ThroughputRequest> serving_asked(const Arguments& arguments) {
  wire::ThroughputRequest request;
  TRY_ASSIGN(request.model, model_asked(arguments));
  TRY(read_serving(arguments, request));
  return request;
}

Result<wire::VramRequest> workload_asked(const Arguments& arguments) {
  wire::VramRequest request;
  TRY_ASSIGN(request.model, model_asked(arguments));
  read_word(arguments, "--for", request.workload);
  TRY(read_serving(arguments, request));
  read_word(arguments, "--optimizer", request.optimizer);
  TRY(read_count(arguments, "--rank", 1, 4096, request.lora_rank));
  TRY(read_count(arguments, "--zero", 0, 3, request.zero_stage));
  TRY(read_count(arguments, "--tensor-parallel", 1, 1024, request.tensor_parallel));
  TRY(read_count(arguments, "--image", 16, 16'384, request.image_side));
  request.gradient_checkpointing = !arguments.has("--no-checkpointing");
  TRY(read_beside(arguments, request));
  return request;
}

Status read_count(const Arguments& arguments, const char* name, int lowest, int highest, int& to) {
  TRY_ASSIGN(const auto number, arguments.number(name, lowest, highest));
  if (number) to = static_cast<int>(*number);
  return {};
}

Status read_number(const Arguments& arguments, const char* name, double lowest, double highest,
                   double& to) {
  const auto typed = arguments.find(name);
  if (!typed) return {};
  std::string_view rest;
  const auto value = leading_number(*typed, rest);
  if (!value || !rest.empty() || !(*value >= lowest && *value <= highest)) {
    return bad_value(
        name, *typed,
        text("A number from {} to {} is needed.", "需要 {} 到 {} 之间的数字。", lowest, highest));
  }
  to = *value;
  return {};
}

Status read_length(const Arguments& arguments, const char* name, std::optional<Duration>& to) {
  const auto typed = arguments.find(name);
  if (!typed) return {};
  const auto length = parse_duration(*typed);
  if (!length) {
    return bad_value(name, *typed,
                     {"A length of time is needed, like 30s, 45m, 4h or 2d.",
                      "需要时长，如 30s、45m、4h、2d。"});
  }
  to = *length;
  return {};
}

Status read_bytes_of(const Arguments& arguments, const char* name, int64_t& to) {
  const auto typed = arguments.find(name);
  if (!typed) return {};
  TRY_ASSIGN(to, parse_gib(name, *typed));
  return {};
}

Status read_money(const Arguments& arguments, const char* name, std::optional<Money>& to) {
  const auto typed = arguments.find(name);
  if (!typed) return {};
  auto amount = parse_money(*typed);
  if (!amount || amount->micro < 0) {
    return bad_value(name, *typed,
                     {"An amount is needed, like 20000 or 0.80, without a currency sign.",
                      "需要金额，如 20000 或 0.80，不带货币符号。"});
  }
  to = *amount;
  return {};
}

Status read_tokens(const Arguments& arguments, const char* name, int& to) {
  const auto typed = arguments.find(name);
  if (!typed) return {};
  std::string_view rest;
  auto value = leading_number(*typed, rest);
  const bool thousands = rest == "K" || rest == "k";
  if (value && thousands) *value *= 1024;
  const bool whole =
      value && *value >= 1 && *value <= (16 << 20) && *value == static_cast<int>(*value);
  if (!whole || !(rest.empty() || thousands)) {
    return bad_value(
        name, *typed,
        {"A number of tokens is needed, like 4096 or 8K.", "需要词元数，如 4096 或 8K。"});
  }
  to = static_cast<int>(*value);
  return {};
}

Status read_seconds(const Arguments& arguments, const char* name, std::optional<double>& to) {
  const auto typed = arguments.find(name);
  if (!typed) return {};
  std::string_view rest;
  const auto value = leading_number(*typed, rest);
  const double unit = rest.empty() || rest == "s" ? 1 : rest == "ms" ? 1e-3 : rest == "m" ? 60 : 0;
  if (!value || unit == 0 || !(*value > 0)) {
    return bad_value(name, *typed,
                     {"The length of one step is needed, like 0.9s or 900ms.",
                      "需要单步耗时，如 0.9s 或 900ms。"});
  }
  to = *value * unit;
  return {};
}

template <class Answer, class Request>
Result<std::optional<Answer>> asked(Context& context, const char* path, const Request& request) {
  TRY_ASSIGN(Client * client, context.client());
  TRY_ASSIGN(const std::string answer, client->post(path, encode(request)));
  if (context.json) {
    context.put(answer);
    return std::optional<Answer>{};
  }
  TRY_ASSIGN(Answer view, decode<Answer>(answer));
  return std::optional<Answer>(std::move(view));
}

#define CARDHOUR_ASKS(A, R) \
  template Result<std::optional<A>> asked<A, R>(Context&, const char*, const R&);
CARDHOUR_ASKS(wire::VramView, wire::VramRequest)
CARDHOUR_ASKS(wire::ThroughputView, wire::ThroughputRequest)
CARDHOUR_ASKS(wire::CardsView, wire::CardsRequest)
CARDHOUR_ASKS(wire::TimeView, wire::TimeRequest)
CARDHOUR_ASKS(wire::CostView, wire::CostRequest)
CARDHOUR_ASKS(wire::OwnView, wire::OwnRequest)
#undef CARDHOUR_ASKS

std::string span_text(const Context& context, const wire::SizeRangeView& size) {
  const std::string low = for_people_bytes(size.low_bytes);
  const std::string high = for_people_bytes(size.high_bytes);
  if (low == high) return low;
  return context.in(text("{} to {}", "{} 到 {}", low, high));
}

std::string hours_text(const Context& context, Duration time) {
  return context.in(text("{:.1f} h", "{:.1f} 小时", static_cast<double>(time.ms) / 3.6e6));
}

void print_formulas(const Context& context, const std::vector<wire::FormulaView>& formulas) {
  for (const wire::FormulaView& each : formulas) {
    context.put("  " + clean(each.name) + ": " + clean(each.formula));
  }
}

void print_lines(const Context& context, const std::vector<std::string>& lines) {
  for (const std::string& line : lines) context.put("- " + clean(line));
}

std::string fit_text(const Context& context, estimate::Fit fit) {
  switch (fit) {
    case estimate::Fit::comfortable:
      return context.in({"comfortable", "宽裕"});
    case estimate::Fit::fits:
      return context.in({"fits", "装得下"});
    case estimate::Fit::tight:
      return context.in({"tight", "很紧"});
    case estimate::Fit::no:
      return context.in({"no", "装不下"});
  }
  return "";
}

}  // namespace cardhour::cli
