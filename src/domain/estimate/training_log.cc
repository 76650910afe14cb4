// Reading the log of a training: only what trainers print often, and no more of a line than
// is needed.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/check.h"
#include "domain/estimate/training.h"

namespace cardhour::estimate {
namespace {

constexpr size_t kPointsMax = 200'000;
constexpr double kSecondsMax = 1e9;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The number at `at`; `at` moves behind it.
std::optional<double> number_at(std::string_view line, size_t& at) {
  if (at >= line.size() || !(is_digit(line[at]) || line[at] == '.')) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(line.data() + at, line.data() + line.size(), value);
  if (error != std::errc{} || !std::isfinite(value)) return std::nullopt;
  at = static_cast<size_t>(end - line.data());
  return value;
}

void skip(std::string_view line, size_t& at, std::string_view characters) {
  while (at < line.size() && characters.find(line[at]) != std::string_view::npos) ++at;
}

// The number behind one of these words: `"step": 12`, `step 12`, `step=12`.
std::optional<double> number_after(std::string_view line,
                                   std::initializer_list<const char*> words) {
  for (const std::string_view word : words) {
    for (size_t found = line.find(word); found != std::string_view::npos;
         found = line.find(word, found + 1)) {
      const bool inside = found > 0 && (std::isalnum(static_cast<unsigned char>(line[found - 1])) ||
                                        line[found - 1] == '_');
      size_t at = found + word.size();
      skip(line, at, "\"':=#[ \t");
      if (!inside) {
        if (const auto value = number_at(line, at)) return value;
      }
    }
  }
  return std::nullopt;
}

// "01:48", "1:02:03" before `end`, back from there.
std::optional<double> clock_at(std::string_view line, size_t& at) {
  double seconds = 0;
  for (int part = 0; part < 3; ++part) {
    const auto value = number_at(line, at);
    if (!value) return std::nullopt;
    seconds = seconds * 60 + *value;
    if (at >= line.size() || line[at] != ':')
      return part == 0 ? std::nullopt : std::optional(seconds);
    ++at;
  }
  return std::nullopt;
}

// " 12%|#2 | 120/1000 [01:48<13:12, 1.11it/s]": steps done and time so far.
std::optional<StepPoint> tqdm_point(std::string_view line) {
  const size_t bracket = line.rfind(" [");
  if (bracket == std::string_view::npos) return std::nullopt;
  size_t slash = line.rfind('/', bracket);
  if (slash == std::string_view::npos || slash == 0 || !is_digit(line[slash - 1]))
    return std::nullopt;
  size_t begin = slash;
  while (begin > 0 && is_digit(line[begin - 1])) --begin;
  const auto step = number_at(line, begin);
  size_t at = bracket + 2;
  const auto seconds = clock_at(line, at);
  if (!step || !seconds || at >= line.size() || line[at] != '<') return std::nullopt;
  return StepPoint{*step, *seconds};
}

// "12 34.5" or "12,34.5" and nothing else.
std::optional<StepPoint> plain_point(std::string_view line) {
  size_t at = 0;
  skip(line, at, " \t");
  const auto step = number_at(line, at);
  const size_t before = at;
  skip(line, at, " \t,;");
  if (!step || at == before) return std::nullopt;
  const auto seconds = number_at(line, at);
  skip(line, at, " \t\r");
  if (!seconds || at != line.size()) return std::nullopt;
  return StepPoint{*step, *seconds};
}

// Seconds of one step: "0.9 s/step", "900 ms/step", "1.1 it/s".
std::optional<double> pace_in(std::string_view line) {
  constexpr std::pair<std::string_view, double> kUnits[] = {{"ms/step", 1e-3}, {"ms/it", 1e-3},
                                                            {"s/step", 1},     {"s/it", 1},
                                                            {"it/s", -1},      {"steps/s", -1}};
  for (const auto& [unit, scale] : kUnits) {
    const size_t found = line.find(unit);
    if (found == std::string_view::npos) continue;
    size_t end = found;
    while (end > 0 && line[end - 1] == ' ') --end;
    size_t begin = end;
    while (begin > 0 && (is_digit(line[begin - 1]) || line[begin - 1] == '.')) --begin;
    const auto value = number_at(line, begin);
    if (!value || *value <= 0) continue;
    return scale < 0 ? 1 / *value : *value * scale;
  }
  return number_after(line, {"step_time", "iter_time", "time_per_step", "sec_per_step"});
}

// Turns lines into points; lines that say only how long a step takes are added up.
class LogReader {
 public:
  void line(std::string_view text) {
    if (points_.size() >= kPointsMax) return;
    if (const auto point = plain_point(text)) return add(*point);
    if (const auto point = tqdm_point(text)) return add(*point);
    const auto step = number_after(
        text, {"global_step", "step", "iteration", "iter", "Step", "Iteration", "Iter"});
    if (!step) return;
    const auto seconds = number_after(
        text, {"_runtime", "elapsed", "_timestamp", "timestamp", "wall_time", "seconds", "time"});
    const auto pace = pace_in(text);
    if (pace) return add_pace(*step, *pace);
    if (seconds) add({*step, *seconds});
  }
  std::vector<StepPoint> take() { return std::move(points_); }

 private:
  // Both must rise: what does not is another run, or no point at all.
  void add(const StepPoint& point) {
    if (!(point.step >= 0 && point.step < 1e12 && point.seconds >= 0)) return;
    if (!points_.empty()) {
      const StepPoint& last = points_.back();
      if (point.step <= last.step || point.seconds <= last.seconds) return;
    }
    points_.push_back(point);
  }
  void add_pace(double step, double pace) {
    if (!(pace > 0 && pace < kSecondsMax) || !(step >= 0)) return;
    if (points_.empty()) return add({step, pace});
    add({step, points_.back().seconds + pace * (step - points_.back().step)});
  }

  std::vector<StepPoint> points_;
};

double quantile(std::vector<double> values, double share) {
  CHECK(!values.empty(), "a quantile of something");
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(share * static_cast<double>(values.size() - 1) + 0.5)];
}

}  // namespace

Result<std::vector<StepPoint>> parse_training_log(std::string_view text) {
  LogReader reader;
  while (!text.empty()) {
    // tqdm redraws its line with a carriage return.
    const size_t end = text.find_first_of("\n\r");
    reader.line(text.substr(0, std::min<size_t>(end, 4096)));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  std::vector<StepPoint> points = reader.take();
  if (points.size() >= 3) return points;
  return invalid(
      "log",
      cardhour::text("the log has {} lines with a step and a time, and three are the least",
                     "日志中只有 {} 行同时含步数和时间，至少需要三行", points.size()),
      Text{"lines like \"120 108.5\" (step, seconds), JSON with \"step\" and \"elapsed\" or "
           "\"step_time\", tqdm bars, or \"step 120 ... 0.9 s/step\" are read",
           "可识别：“120 108.5”（步数、秒）、含 \"step\" 与 \"elapsed\" 或 \"step_time\" 的 "
           "JSON、tqdm "
           "进度条，或“step 120 ... 0.9 s/step”"});
}

StepFit fit_steps(const std::vector<StepPoint>& points) {
  CHECK(points.size() >= 3, "what parse_training_log returns");
  std::vector<double> lengths;
  for (size_t i = 1; i < points.size(); ++i) {
    lengths.push_back((points[i].seconds - points[i - 1].seconds) /
                      (points[i].step - points[i - 1].step));
  }
  // The second half is steady; the beginning belongs to it from where it is as fast.
  const std::vector<double> half(lengths.begin() + static_cast<ptrdiff_t>(lengths.size() / 2),
                                 lengths.end());
  const double steady = quantile(half, 0.5);
  size_t warmup = 0;
  while (warmup < lengths.size() / 2 && lengths[warmup] > 1.1 * steady) ++warmup;
  const std::vector<double> kept(lengths.begin() + static_cast<ptrdiff_t>(warmup), lengths.end());
  const StepPoint& first = points[warmup];
  const StepPoint& last = points.back();
  StepFit fit;
  fit.points = static_cast<int>(points.size());
  fit.warmup_points = static_cast<int>(warmup);
  fit.median_seconds = quantile(kept, 0.5);
  fit.mean_seconds = (last.seconds - first.seconds) / (last.step - first.step);
  fit.slow_seconds = std::max(quantile(kept, 0.9), fit.mean_seconds);
  return fit;
}

Text fit_sentence(const StepFit& fit) {
  return text(
      "{:.3f} s a step in the steady state ({:.3f} s with pauses, {:.3f} s at the slow end), from "
      "{} points; "
      "{} dropped as warm-up.",
      "稳定阶段每步 {:.3f} 秒（含停顿 {:.3f} 秒，较慢时 {:.3f} 秒），共 {} 个点，去掉预热 {} 个。",
      fit.median_seconds, fit.mean_seconds, fit.slow_seconds, fit.points, fit.warmup_points);
}

}  // namespace cardhour::estimate
