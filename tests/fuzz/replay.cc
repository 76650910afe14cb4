// fuzz_replay: every corpus file, and then inputs that a seed makes of them by mutation. Short and
// repeatable: what `./check` runs. A failing input is what it prints last, as a file.
//   fuzz_replay [--inputs N] [--seed S] [--target NAME] [FILE...]
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "adapters/http/api/endpoints.h"
#include "adapters/sim/sim_entropy.h"
#include "base/check.h"
#include "base/crypto.h"
#include "sim/world.h"
#include "tests/fuzz/fuzz.h"

namespace cardhour::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr size_t kInputBytesMax = 8 * 1024;

// The input at work, for the handler that speaks when something aborts.
std::string& at_work() {
  static std::string input;
  return input;
}

void on_abort(int) {
  const char said[] = "\nthe input that failed is in /tmp/cardhour-fuzz-failure\n";
  const int file = ::creat("/tmp/cardhour-fuzz-failure", 0600);
  static_cast<void>(!::write(file, at_work().data(), at_work().size()));
  static_cast<void>(!::write(STDERR_FILENO, said, sizeof said - 1));
}

std::string read_file(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::vector<std::string> corpus_of(const Target& target) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(fs::path(CARDHOUR_CORPUS) / target.name)) {
    files.push_back(entry.path());
  }
  std::ranges::sort(files);
  std::vector<std::string> inputs;
  for (const fs::path& file : files) inputs.push_back(read_file(file));
  CHECK(!inputs.empty(), fmt::format("corpus/{} has files", target.name));
  return inputs;
}

class Mutator {
 public:
  Mutator(const Target& target, const std::vector<std::string>& corpus, uint64_t seed)
      : target_(target), corpus_(corpus), random_(seed) {}

  std::string next() {
    std::string input = some(corpus_);
    const uint64_t changes = 1 + below(6);
    for (uint64_t i = 0; i < changes; ++i) change(input);
    if (input.size() > kInputBytesMax) input.resize(kInputBytesMax);
    return input;
  }

 private:
  uint64_t below(uint64_t bound) { return random_.below(bound); }
  const std::string& some(const std::vector<std::string>& all) { return all[below(all.size())]; }
  size_t place(const std::string& input) { return below(input.size() + 1); }

  void change(std::string& input) {
    const size_t at = place(input);
    const size_t size = std::min<size_t>(below(16), input.size() - at);
    switch (below(7)) {
      case 0:
        return input.insert(at, 1, static_cast<char>(below(256))), void();
      case 1:
        return input.erase(at, size), void();
      case 2:
        if (at < input.size()) input[at] = static_cast<char>(input[at] ^ (1 << below(8)));
        return;
      case 3:
        return input.insert(at, target_.words[below(target_.words.size())]), void();
      case 4:
        return input.replace(at, size, target_.words[below(target_.words.size())]), void();
      case 5: {  // a piece of another one
        const std::string& other = some(corpus_);
        const size_t from = place(other);
        return input.insert(at, other.substr(from, below(64))), void();
      }
      default: {  // a piece of itself, several times
        const std::string piece = input.substr(at, size);
        for (uint64_t i = below(8); i > 0; --i) input.insert(at, piece);
      }
    }
  }

  const Target& target_;
  const std::vector<std::string>& corpus_;
  Xoshiro random_;
};

void feed(const Target& target, std::string input) {
  at_work() = std::move(input);
  target.run(at_work());
}

// An endpoint that the corpus does not ask is not fuzzed.
void check_every_endpoint_is_asked() {
  World world(WorldOptions{});
  for (const http::Endpoint& endpoint : http::make_endpoints(world.plane())) {
    const fs::path file = fs::path(CARDHOUR_CORPUS) / "api" / endpoint.operation_id;
    CHECK(fs::exists(file), fmt::format("{} asks the endpoint {} {}", file.string(),
                                        http::method_text(endpoint.method), endpoint.path));
  }
}

int run(int inputs, uint64_t seed, const std::string& only, const std::vector<std::string>& files) {
  check_every_endpoint_is_asked();
  int passed = 0;
  for (const Target& target : targets()) {
    if (!only.empty() && only != target.name) continue;
    const auto start = std::chrono::steady_clock::now();
    if (!files.empty()) {
      for (const std::string& file : files) feed(target, read_file(file));
      continue;
    }
    const auto corpus = corpus_of(target);
    for (const std::string& input : corpus) feed(target, input);
    Mutator mutator(target, corpus, seed);
    const int count = std::max(inputs / target.cost, 1);
    for (int i = 0; i < count; ++i) feed(target, mutator.next());
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    fmt::print("{:14} {:4} files {:7} mutations  {:.1f} s\n", target.name, corpus.size(), count,
               took.count());
    ++passed;
  }
  fmt::print("{} passed, 0 failed\n", passed);
  return 0;
}

}  // namespace
}  // namespace cardhour::fuzz

int main(int argc, char** argv) {
  setvbuf(stdout, nullptr, _IOLBF, 0);
  int inputs = 20'000;
  uint64_t seed = 1;
  std::string target;
  std::vector<std::string> files;
  CLI::App app("Fuzz targets over their corpora and over mutations from a seed");
  app.add_option("--inputs", inputs, "of the cheapest target; dearer ones get fewer");
  app.add_option("--seed", seed, "of the mutations");
  app.add_option("--target", target, "only this one");
  app.add_option("files", files, "only these inputs, for --target");
  CLI11_PARSE(app, argc, argv);
  cardhour::crypto_init();
  struct sigaction action = {};
  action.sa_handler = cardhour::fuzz::on_abort;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGABRT, &action, nullptr);
  return cardhour::fuzz::run(inputs, seed, target, files);
}
