// cardhour: the one program. The server's subcommands are here; everything that a renter or
// an operator types is src/cli.
#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>

#include "adapters/gpu/gpu_child.h"
#include "adapters/http/api/endpoints.h"
#include "bin/crash_points.h"
#include "bin/docs.h"
#include "bin/restore.h"
#include "bin/serve.h"
#include "cli/cli.h"
#include "domain/instance.h"

namespace {

using namespace cardhour;

constexpr int kUsage = 2;

int print(const std::string& text) {
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
}

int failed(const char* command, const Error& error) {
  std::fprintf(stderr, "cardhour %s: %s\n", command, error.what.en.c_str());
  return error_row(error.code).exit_code;
}

int version() { return print(fmt::format("cardhour {}\n", http::product_version())); }

int docs(std::string_view topic) {
  if (topic == "openapi") {
    const auto document = openapi_text();
    return document ? print(*document) : failed("docs", document.error());
  }
  if (topic == "states") return print(lifecycle_markdown());
  if (topic == "crash-points") {  // for the tests that go through them
    std::string lines;
    for (const std::string& point : crash_points()) lines += point + "\n";
    return print(lines);
  }
  std::fputs("usage: cardhour docs openapi|states\n", stderr);
  return kUsage;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view command = argc > 1 ? argv[1] : "";
  if (command == "serve") return serve_main(argc - 1, argv + 1);
  if (command == "gpu-reader") return gpu_child_main(argc - 1, argv + 1);
  if (command == "docs") return docs(argc == 3 ? argv[2] : "");
  const bool asks_version = command == "version" || command == "--version";
  if (asks_version && argc == 2) return version();
  return cli_main(argc, argv, LocalActions{.restore = restore_database});
}
