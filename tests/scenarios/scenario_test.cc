// Runs every *.scenario beside this file and compares. `scenario_test --update` writes what was
// printed into the files instead: read the difference before you keep it.
#include "tests/scenarios/scenario.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/enum_text.h"

namespace cardhour {
namespace {

namespace fs = std::filesystem;

constexpr const char* kIndent = "  ";

Scenario::Edges& all_edges() {
  static Scenario::Edges edges;
  return edges;
}

std::string read_file(const fs::path& path) {
  std::ifstream stream(path);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

// The text with what its commands print now.
std::string played(const std::string& text) {
  Scenario scenario;
  std::istringstream lines(text);
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(kIndent)) continue;
    result += line + "\n";
    if (line.empty() || line.starts_with('#')) continue;
    for (const std::string& printed : scenario.run(line)) result += kIndent + printed + "\n";
  }
  all_edges().insert(scenario.edges().begin(), scenario.edges().end());
  return result;
}

class ScenarioFile : public testing::Test {
 public:
  ScenarioFile(fs::path path, bool update) : path_(std::move(path)), update_(update) {}
  void TestBody() override {
    const std::string expected = read_file(path_);
    const std::string actual = played(expected);
    if (update_) {
      std::ofstream(path_) << actual;
      return;
    }
    EXPECT_EQ(expected, actual) << path_;
  }

 private:
  fs::path path_;
  bool update_;
};

class EveryEdge : public testing::Test {
 public:
  void TestBody() override {
    for (const LifecycleEdge& edge : lifecycle()) {
      EXPECT_TRUE(all_edges().contains({edge.from, edge.event}))
          << "no scenario goes from " << enum_text(edge.from) << " by " << enum_text(edge.event);
    }
  }
};

void register_all(bool update) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(CARDHOUR_SCENARIOS)) {
    if (entry.path().extension() == ".scenario") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    testing::RegisterTest(
        "Scenario", file.stem().c_str(), nullptr, nullptr, __FILE__, __LINE__,
        [file, update]() -> testing::Test* { return new ScenarioFile(file, update); });
  }
  testing::RegisterTest("ZLifecycle", "every_edge_is_gone_in_some_scenario", nullptr, nullptr,
                        __FILE__, __LINE__, []() -> testing::Test* { return new EveryEdge(); });
}

}  // namespace
}  // namespace cardhour

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  cardhour::register_all(argc > 1 && std::string(argv[1]) == "--update");
  return RUN_ALL_TESTS();
}
