#include "bench/fixture.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "adapters/files/catalog_file.h"
#include "base/check.h"

namespace cardhour::bench {

Scratch::Scratch() {
  const char* given = std::getenv("CARDHOUR_BENCH_DIR");
  const std::filesystem::path below = given ? given : std::filesystem::temp_directory_path();
  path_ = (below / "cardhour-bench-XXXXXX").string();
  CHECK(::mkdtemp(path_.data()) != nullptr, "no directory for the database");
}

Scratch::~Scratch() { std::filesystem::remove_all(path_); }

Status TimedStore::write(const std::function<Status(Tx&)>& body) {
  const Stopwatch stopwatch;
  Status status = inner_.write(body);
  holds_ms_.push_back(1000 * stopwatch.seconds());
  return status;
}

double TimedStore::hold_ms(double share) const {
  std::vector<double> sorted = holds_ms_;
  std::sort(sorted.begin(), sorted.end());
  const auto last = static_cast<double>(sorted.size() - 1);
  return sorted.at(static_cast<size_t>(share * last));
}

Catalog catalog() { return must(load_catalog(CARDHOUR_SOURCE_DIR "/catalog/gpu-models.toml")); }

std::vector<Price> default_prices(const Catalog& catalog) {
  return must(load_prices(CARDHOUR_SOURCE_DIR "/catalog/prices.toml", catalog));
}

void must(const Status& status) { CHECK(status.has_value(), status ? "" : status.error().what.en); }

Fixture::Fixture(const PopulationOptions& options)
    : population(make_population(entropy, clock.now(), options)) {
  insert(*file, population);
  must(plane.inventory.seed_prices(default_prices(models)));
}

}  // namespace cardhour::bench
