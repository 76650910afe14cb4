// cardhour-bench: in-process benchmarks (Google Benchmark's options), or, with "serve" as the
// first word, a server with a made-up population: see server.cc.
#include <benchmark/benchmark.h>

#include <string_view>

#include "bench/server.h"

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "serve") return cardhour::bench::serve(argc, argv);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
