// The answers of the child process as JSON, and back.
#include <boost/json.hpp>

#include "adapters/gpu/gpu_child.h"
#include "base/enum_text.h"

namespace cardhour {
namespace {

namespace json = boost::json;

// What goes over the pipe of a ProbedCard: plain members.
struct PlainCard {
  std::string uuid;
  std::string name;
  std::string pci_address;
  int index = 0;
  std::optional<int64_t> memory_total_bytes;
  std::optional<int64_t> memory_used_bytes;
  std::optional<std::string> compute_capability;
  std::optional<int> numa_node;
  std::string fault;
};
BOOST_DESCRIBE_STRUCT(PlainCard, (),
                      (uuid, name, pci_address, index, memory_total_bytes, memory_used_bytes,
                       compute_capability, numa_node, fault))

struct PlainGpus {
  std::string driver_version;
  std::string cuda_version;
  bool simulated = false;
  std::vector<PlainCard> cards;
};
BOOST_DESCRIBE_STRUCT(PlainGpus, (), (driver_version, cuda_version, simulated, cards))

std::string error_text(const Error& error) {
  const json::object what{{"code", enum_text(error.code)},
                          {"what_en", error.what.en},
                          {"what_zh", error.what.zh},
                          {"next_en", error.next.en},
                          {"next_zh", error.next.zh}};
  return json::serialize(json::object{{"error", what}});
}

tl::unexpected<Error> not_understood() {
  return fail(ErrorCode::engine_failed, Text{"the GPU reader said something that is no answer",
                                             "GPU 读取进程返回了无法识别的内容"});
}

std::string text_of(const json::object& object, std::string_view key) {
  const json::value* found = object.if_contains(key);
  return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
}

template <class T>
Result<T> understand(std::string_view text) {
  json::error_code wrong;
  const json::value document = json::parse(json::string_view(text.data(), text.size()), wrong);
  if (wrong || !document.is_object()) return not_understood();
  if (const json::value* error = document.get_object().if_contains("error")) {
    if (!error->is_object()) return not_understood();
    const json::object& o = error->get_object();
    return fail(enum_from<ErrorCode>(text_of(o, "code")).value_or(ErrorCode::engine_failed),
                Text{text_of(o, "what_en"), text_of(o, "what_zh")},
                Text{text_of(o, "next_en"), text_of(o, "next_zh")});
  }
  auto value = json::try_value_to<T>(document);
  if (!value) return not_understood();
  return std::move(*value);
}

}  // namespace

std::string gpu_answer_text(const Result<ProbedGpus>& answer) {
  if (!answer) return error_text(answer.error());
  PlainGpus plain{answer->driver_version, answer->cuda_version, answer->simulated, {}};
  for (const ProbedCard& card : answer->cards) {
    plain.cards.push_back({card.uuid.text, card.name, card.pci_address, card.index,
                           card.memory_total_bytes, card.memory_used_bytes, card.compute_capability,
                           card.numa_node, card.fault});
  }
  return json::serialize(json::value_from(plain));
}

std::string gpu_answer_text(const Result<GpuSample>& answer) {
  if (!answer) return error_text(answer.error());
  return json::serialize(json::value_from(*answer));
}

Result<ProbedGpus> probe_answer(std::string_view text) {
  TRY_ASSIGN(PlainGpus plain, understand<PlainGpus>(text));
  ProbedGpus gpus{
      std::move(plain.driver_version), std::move(plain.cuda_version), plain.simulated, {}};
  for (PlainCard& card : plain.cards) {
    gpus.cards.push_back({CardId{card.uuid}, card.name, card.pci_address, card.index,
                          card.memory_total_bytes, card.memory_used_bytes, card.compute_capability,
                          card.numa_node, card.fault});
  }
  return gpus;
}

Result<GpuSample> sample_answer(std::string_view text) { return understand<GpuSample>(text); }

}  // namespace cardhour
