#include "domain/diagnosis.h"

#include <algorithm>
#include <cmath>

namespace cardhour {
namespace {

// What the rules call low, high and full, in percent.
constexpr double kLow = 25;
constexpr double kBusy = 60;
constexpr double kCpuBusy = 50;
constexpr double kCpuHigh = 80;
constexpr double kFull = 95;
constexpr double kMemoryFull = 92;
constexpr double kThrottled = 20;  // of the time
// A leak: a straight climb over this long, which fills the card within a day.
constexpr Duration kLeakSeen = minutes(20);
constexpr double kLeakFit = 0.9;
constexpr double kLeakHoursAhead = 24;
constexpr size_t kPointsForTrend = 30;
// Before this much was seen nothing is said about speed.
constexpr Duration kSeenAtLeast = minutes(3);

std::string rounded(double value) { return std::to_string(std::llround(value)); }
std::string gib(double bytes) {
  const auto tenths = std::llround(bytes / (1 << 30) * 10);
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " GiB";
}

// Mean of the known values; nullopt when less than half is known.
std::optional<double> mean_of(const std::vector<SeriesPoint>& points, size_t column) {
  double sum = 0;
  size_t known = 0;
  for (const SeriesPoint& point : points) {
    if (std::isnan(point.values[column])) continue;
    sum += point.values[column];
    ++known;
  }
  if (known == 0 || known * 2 < points.size()) return std::nullopt;
  return sum / static_cast<double>(known);
}

class Colleague {
 public:
  explicit Colleague(const DiagnosisInput& input) : input_(input) {}

  std::vector<Finding> look() {
    if (!input_.runs) return {};
    look_for_cards();
    look_at_memory();
    if (seen_long_enough()) look_at_speed();
    std::ranges::stable_sort(findings_, {}, &Finding::weight);
    return std::move(findings_);
  }

 private:
  void find(std::string code, FindingWeight weight, Text what, Text evidence, Text remedy) {
    findings_.push_back(
        {std::move(code), weight, std::move(what), std::move(evidence), std::move(remedy)});
  }
  void problem(std::string code, Text what, Text evidence, Text remedy) {
    find(std::move(code), FindingWeight::problem, std::move(what), std::move(evidence),
         std::move(remedy));
  }
  void advice(std::string code, Text what, Text evidence, Text remedy) {
    find(std::move(code), FindingWeight::advice, std::move(what), std::move(evidence),
         std::move(remedy));
  }
  static size_t column(std::string_view name) { return column_of(SeriesKind::instance, name); }
  std::optional<double> mean(std::string_view name) const {
    return mean_of(input_.points, column(name));
  }
  bool seen_long_enough() const {
    return input_.points.size() > 1 &&
           input_.points.back().at - input_.points.front().at >= kSeenAtLeast;
  }

  void look_for_cards();
  void look_at_card(const DiagnosedCard& card);
  void look_at_memory();
  void look_at_vram(const DiagnosedCard& card);
  void look_for_leak(const DiagnosedCard& card);
  void look_at_speed();
  void look_at_split();
  void look_at_load();
  void look_for_idle_holder(const DiagnosedCard& card);
  void look_at_clocks(const DiagnosedCard& card);
  void look_at_link(const DiagnosedCard& card);

  const DiagnosisInput& input_;
  std::vector<Finding> findings_;
};

std::string card_name(const DiagnosedCard& card) { return "#" + std::to_string(card.index); }

void Colleague::look_for_cards() {
  if (!input_.wants_cards) {
    advice(
        "no_card_mode", {"it runs without a card", "实例以无卡模式运行"},
        {"this run is in no-GPU mode", "本次运行为无卡模式"},
        {"cardhour start ID --gpu MODEL gives it a card", "cardhour start ID --gpu 型号 以加卡"});
    return;
  }
  if (!input_.driver_answers) {
    problem("driver_silent", {"the host's driver does not answer", "主机驱动没有应答"},
            {"the last look at the cards failed", "最近一次读取显卡失败"},
            {"tell the operator; your run goes on, and what it computes may hang",
             "请联系运营者；运行仍在继续，但计算可能挂起"});
  }
  for (const DiagnosedCard& card : input_.cards) look_at_card(card);
}

void Colleague::look_at_card(const DiagnosedCard& card) {
  if (!card.sample.fault.empty() || !card.conditions.empty()) {
    const std::string why = card.sample.fault.empty() ? card.conditions.front() : card.sample.fault;
    const ConditionText meaning = condition_text(why);
    problem("card_sick",
            {"card " + card_name(card) + " is not well", "显卡 " + card_name(card) + " 不正常"},
            {why + ": " + meaning.what.en, why + "：" + meaning.what.zh},
            {"save what you can and restart: you get another card, and what failed is not charged",
             "请保存数据并重新开机：系统会换卡，故障时段不计费"});
  }
  for (const CardXid& xid : card.xids) {
    const XidMeaning meaning = xid_meaning(xid.code);
    if (meaning.severity != XidSeverity::program) continue;
    const std::string count = std::to_string(xid.count);
    advice("program_error",
           {"a program made an error on card " + card_name(card),
            "有程序在显卡 " + card_name(card) + " 上出错"},
           {"Xid " + std::to_string(xid.code) + " x" + count + ": " + meaning.what.en,
            "Xid " + std::to_string(xid.code) + " ×" + count + "：" + meaning.what.zh},
           {"most often a bug of the program or a mismatch of libraries: run it with "
            "CUDA_LAUNCH_BLOCKING=1, or compute-sanitizer",
            "多为程序错误或库不匹配：请用 CUDA_LAUNCH_BLOCKING=1 或 compute-sanitizer 运行"});
  }
}

void Colleague::look_at_memory() {
  const auto used = mean("memory_used_bytes");
  const auto capacity = static_cast<double>(input_.memory_bytes);
  if (used && capacity > 0 && *used * 100 / capacity >= kMemoryFull) {
    problem("ram_full", {"its RAM is nearly full", "内存即将用尽"},
            {gib(*used) + " of " + gib(capacity), gib(*used) + " / " + gib(capacity)},
            {"past it the kernel kills the largest process: fewer data-loader workers, smaller "
             "caches, or more cards, which bring more RAM",
             "用尽后内核会终止最大的进程：请减少数据加载进程、缩小缓存，或增加显卡以获得更多内存"});
  }
  for (const DiagnosedCard& card : input_.cards) {
    look_at_vram(card);
    look_for_leak(card);
  }
}

void Colleague::look_at_vram(const DiagnosedCard& card) {
  const CardReading& r = card.sample.reading;
  if (!r.memory_used_bytes || r.memory_total_bytes.value_or(0) <= 0) return;
  const auto used = static_cast<double>(*r.memory_used_bytes);
  const auto total = static_cast<double>(*r.memory_total_bytes);
  if (used * 100 / total < kFull) return;
  std::string who;
  for (const GpuProcess& process : card.sample.processes) {
    if (!process.memory_used_bytes) continue;
    who += (who.empty() ? "" : ", ") + process.command + " (" +
           (process.user.empty() ? "?" : process.user) + ") " +
           gib(static_cast<double>(*process.memory_used_bytes));
  }
  const std::string numbers = gib(used) + " / " + gib(total) + (who.empty() ? "" : ": " + who);
  advice("vram_full",
         {"the VRAM of card " + card_name(card) + " is nearly full",
          "显卡 " + card_name(card) + " 的显存即将用尽"},
         {numbers, numbers},
         {"end a process that is left over; else a smaller batch with gradient accumulation, "
          "checkpointed activations, or when serving fewer sequences, a shorter context, "
          "quantised weights. A server that takes all on purpose is fine",
          "结束遗留进程；否则减小批量并使用梯度累积、激活检查点；推理时减少并发、缩短上下文或量化权"
          "重。"
          "推理服务主动占满显存则属正常"});
}

void Colleague::look_for_leak(const DiagnosedCard& card) {
  const auto total = static_cast<double>(card.sample.reading.memory_total_bytes.value_or(0));
  const auto trend = trend_of(card.points, column_of(SeriesKind::card, "memory_used_bytes"));
  if (!trend || total <= 0 || trend->fit < kLeakFit || trend->per_hour <= 0) return;
  if (card.points.back().at - card.points.front().at < kLeakSeen) return;
  const double hours_left = (total - trend->last) / trend->per_hour;
  // A slope that is less than a hundredth of the card in an hour is noise of an allocator.
  if (hours_left > kLeakHoursAhead || trend->per_hour < total / 100) return;
  const auto minutes_left = std::to_string(std::llround(std::max(hours_left, 0.0) * 60));
  problem("vram_climbs",
          {"the VRAM of card " + card_name(card) + " climbs steadily",
           "显卡 " + card_name(card) + " 的显存持续上升"},
          {gib(trend->per_hour) + " an hour, full in about " + minutes_left + " min",
           "每小时 " + gib(trend->per_hour) + "，约 " + minutes_left + " 分钟后用尽"},
          {"something keeps tensors: append loss.item() instead of loss, detach what is kept, look "
           "for lists that grow; save a checkpoint before it overflows",
           "有张量未释放：累加 loss.item() 而非 loss，保存前先 "
           "detach，检查不断增长的列表；请在用尽前保存检查点"});
}

void Colleague::look_at_speed() {
  if (!input_.wants_cards || input_.cards.empty()) return;
  look_at_split();
  look_at_load();
  for (const DiagnosedCard& card : input_.cards) {
    look_for_idle_holder(card);
    look_at_clocks(card);
    look_at_link(card);
  }
}

void Colleague::look_at_split() {
  const auto highest = mean("gpu_percent_highest");
  const auto lowest = mean("gpu_percent_lowest");
  if (input_.cards.size() < 2 || !highest || !lowest) return;
  if (*highest < kBusy || *lowest > kLow / 2) return;
  const std::string numbers = rounded(*highest) + "% / " + rounded(*lowest) + "%";
  advice("unbalanced", {"one card works while another rests", "有的显卡繁忙，有的空闲"},
         {"busiest and idlest card: " + numbers, "最忙与最闲的显卡：" + numbers},
         {"start one process for each card (torchrun --nproc-per-node), or rent fewer cards",
          "为每张卡启动一个进程（torchrun --nproc-per-node），或减少租用的显卡"});
}

void Colleague::look_at_load() {
  const auto gpu = mean("gpu_percent");
  const auto cpu = mean("cpu_percent");
  const auto processes = mean("gpu_processes");
  const auto busiest = mean("gpu_percent_highest");
  if (!gpu || !cpu || !processes || !busiest || *busiest >= kBusy) return;
  const std::string loads_en = "cards " + rounded(*gpu) + "%, CPU " + rounded(*cpu) + "%";
  const std::string loads_zh = "显卡 " + rounded(*gpu) + "%，CPU " + rounded(*cpu) + "%";
  if (*processes == 0 && *gpu < 1 && *cpu >= kCpuBusy) {
    problem("no_gpu_process", {"it computes on the CPU alone", "程序仅在 CPU 上计算"},
            {loads_en + ", and no process uses a card", loads_zh + "，且没有进程使用显卡"},
            {"the framework is likely a CPU-only build: python3 -c \"import torch; "
             "print(torch.version.cuda, torch.cuda.is_available())\"; install the CUDA build, and "
             "move model and data to the card",
             "框架很可能是仅 CPU 版本：python3 -c \"import torch; print(torch.version.cuda, "
             "torch.cuda.is_available())\"；请安装 CUDA 版本，并将模型与数据移至显卡"});
    return;
  }
  if (*processes == 0 || *gpu >= kLow) return;
  if (*cpu >= kCpuHigh) {
    advice("input_pipeline", {"the cards wait for the CPU", "显卡在等待 CPU"}, {loads_en, loads_zh},
           {"more data-loader workers with pinned memory, decode and augment ahead of time or on "
            "the card, cache what is preprocessed",
            "增加数据加载进程并使用锁页内存，预先或在显卡上解码与增强，缓存预处理结果"});
    return;
  }
  if (*cpu<kLow&& * gpu> 0) {
    const double disk = mean("disk_read_bytes_per_second").value_or(0) +
                        mean("disk_written_bytes_per_second").value_or(0);
    const double network = mean("network_received_bytes_per_second").value_or(0) +
                           mean("network_sent_bytes_per_second").value_or(0);
    constexpr double kMib = 1 << 20;
    const std::string traffic_en =
        ", disk " + rounded(disk / kMib) + " MiB/s, network " + rounded(network / kMib) + " MiB/s";
    const std::string traffic_zh =
        "，磁盘 " + rounded(disk / kMib) + " MiB/s，网络 " + rounded(network / kMib) + " MiB/s";
    advice("waiting", {"cards and CPU both wait", "显卡与 CPU 都在等待"},
           {loads_en + traffic_en, loads_zh + traffic_zh},
           {"storage, network or a lock holds it up: many small files are better read from one "
            "archive, remote data better copied first; py-spy dump shows where it waits",
            "存储、网络或锁造成等待：大量小文件宜打包读取，远程数据宜先复制；py-spy dump "
            "可显示等待位置"});
  }
}

// A process that holds VRAM and computes nothing, on a card that rests.
void Colleague::look_for_idle_holder(const DiagnosedCard& card) {
  const auto load = mean_of(card.points, column_of(SeriesKind::card, "gpu_percent_highest"));
  const auto total = card.sample.reading.memory_total_bytes.value_or(0);
  if (!load || *load > 0 || total <= 0) return;
  for (const GpuProcess& process : card.sample.processes) {
    if (process.memory_used_bytes.value_or(0) * 5 < total) continue;
    const std::string who = process.command + " (" + (process.user.empty() ? "?" : process.user) +
                            "), " + gib(static_cast<double>(*process.memory_used_bytes));
    advice("idle_holder",
           {"a process holds VRAM of card " + card_name(card) + " and computes nothing",
            "有进程占用显卡 " + card_name(card) + " 的显存却不计算"},
           {who, who},
           {"left over from an earlier run, or a notebook that is still open: nvidia-smi or fuser "
            "/dev/nvidia* finds it, kill ends it",
            "可能是先前运行的遗留进程或未关闭的笔记本：用 nvidia-smi 或 fuser /dev/nvidia* 找到并 "
            "kill"});
  }
}

void Colleague::look_at_clocks(const DiagnosedCard& card) {
  const auto throttled = mean_of(card.points, column_of(SeriesKind::card, "throttled_percent"));
  if (!throttled || *throttled < kThrottled) return;
  const auto heat = card.sample.reading.temperature_celsius;
  const std::string degrees = heat ? ", " + std::to_string(*heat) + " °C" : "";
  advice("throttled",
         {"card " + card_name(card) + " is slowed down by heat or power",
          "显卡 " + card_name(card) + " 因过热或供电而降频"},
         {rounded(*throttled) + "% of the time" + degrees,
          "占 " + rounded(*throttled) + "% 的时间" + degrees},
         {"this is the host's: tell the operator", "这是主机的问题：请联系运营者"});
}

void Colleague::look_at_link(const DiagnosedCard& card) {
  const CardReading& r = card.sample.reading;
  if (!r.pcie_width || !r.pcie_width_max || !r.gpu_percent) return;
  // The generation falls at rest by design; the width does not.
  if (*r.pcie_width * 2 > *r.pcie_width_max || *r.gpu_percent < kLow) return;
  const std::string lanes =
      "x" + std::to_string(*r.pcie_width) + " / x" + std::to_string(*r.pcie_width_max);
  advice("narrow_link",
         {"card " + card_name(card) + " has fewer PCIe lanes than it could",
          "显卡 " + card_name(card) + " 的 PCIe 通道数低于其能力"},
         {lanes, lanes},
         {"copies to the card are slower; keep data on it. The operator can look at riser and slot",
          "向显卡复制数据较慢，请尽量将数据保留在显卡上；运营者可检查转接线与插槽"});
}

}  // namespace

std::optional<Trend> trend_of(const std::vector<SeriesPoint>& points, size_t column) {
  double n = 0;
  double sum_t = 0;
  double sum_v = 0;
  double sum_tt = 0;
  double sum_tv = 0;
  double sum_vv = 0;
  Trend trend;
  for (const SeriesPoint& point : points) {
    const double value = point.values[column];
    if (std::isnan(value)) continue;
    const double hours = static_cast<double>((point.at - points.front().at).ms) / 3'600'000.0;
    n += 1;
    sum_t += hours;
    sum_v += value;
    sum_tt += hours * hours;
    sum_tv += hours * value;
    sum_vv += value * value;
    trend.last = value;
  }
  const double spread_t = n * sum_tt - sum_t * sum_t;
  const double spread_v = n * sum_vv - sum_v * sum_v;
  if (n < static_cast<double>(kPointsForTrend) || spread_t <= 0) return std::nullopt;
  const double both = n * sum_tv - sum_t * sum_v;
  trend.per_hour = both / spread_t;
  trend.fit = spread_v <= 0 ? 0 : both * both / (spread_t * spread_v);
  return trend;
}

std::vector<Finding> diagnose(const DiagnosisInput& input) { return Colleague(input).look(); }

}  // namespace cardhour
