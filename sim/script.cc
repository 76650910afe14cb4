#include "sim/script.h"

#include <fmt/format.h>
#include <unistd.h>

#include <sstream>

#include "base/check.h"

namespace cardhour {

Words words_of(const std::string& line) {
  std::istringstream stream(line);
  Words words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::string to_text(const Script& script) {
  std::string text = fmt::format("world seed {} unit {}\n", script.seed, script.unit.ms);
  for (const std::string& line : script.lines) text += line + "\n";
  return text;
}

Result<Script> parse_script(const std::string& text) {
  Script script;
  bool begun = false;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const Words words = words_of(line);
    if (words.empty() || words[0].starts_with('#')) continue;
    if (begun) {
      script.lines.push_back(line);
      continue;
    }
    unsigned long long seed = 0;
    long long unit = 0;
    if (std::sscanf(line.c_str(), "world seed %llu unit %lld", &seed, &unit) != 2 || unit < 1) {
      return invalid("world", Text{"a script begins with: world seed S unit MS",
                                   "脚本首行应为：world seed S unit MS"});
    }
    script.seed = seed;
    script.unit = Duration{unit};
    begun = true;
  }
  if (!begun) return invalid("world", Text{"the script is empty", "脚本为空"});
  return script;
}

void Journal::write(const std::string& line) const {
  const std::string text = line + "\n";
  const auto size = static_cast<ssize_t>(text.size());
  CHECK(::write(fd_, text.data(), text.size()) == size, "the journal can be written");
}

std::vector<std::string> lines_of_journal(const std::string& journal) {
  std::vector<std::string> lines;
  std::vector<std::string> step;
  const auto end_step = [&] {
    lines.insert(lines.end(), step.begin(), step.end());
    step.clear();
  };
  size_t armed = 0;  // of the step
  std::istringstream stream(journal);
  for (std::string line; std::getline(stream, line);) {
    if (line == "step") {
      end_step();
      armed = 0;
    } else if (line.starts_with("hit ")) {
      step.insert(step.begin() + static_cast<std::ptrdiff_t>(armed++), line.substr(4));
    } else if (line.starts_with("did ")) {
      step.push_back(line.substr(4));
    }
  }
  end_step();
  return lines;
}

}  // namespace cardhour
