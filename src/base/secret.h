// Secret: text that must not reach a log, a response or a database column by accident.
// It has no stream operator, no formatter, no JSON and no SQL conversion; reveal() is the
// only way to the text, and is easy to search for. Wiped on destruction.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace cardhour {

class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string text) : text_(std::move(text)) {}
  Secret(const Secret&) = default;
  Secret(Secret&&) = default;
  Secret& operator=(const Secret&) = default;
  Secret& operator=(Secret&&) = default;
  ~Secret();

  const std::string& reveal() const { return text_; }
  bool empty() const { return text_.empty(); }

 private:
  std::string text_;
};

}  // namespace cardhour
