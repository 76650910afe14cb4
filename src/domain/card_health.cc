#include "domain/card_health.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace cardhour {
namespace {

using enum XidSeverity;

// A fault without an error report counts when it is still there at the next look: some
// answers of a busy driver pass.
constexpr int kFaultsThatCount = 2;

struct XidRow {
  int64_t code;
  XidSeverity severity;
  const char* en;
  const char* zh;
};

// Meanings as NVIDIA documents them (docs.nvidia.com/deploy/xid-errors).
constexpr std::array kXids = {
    XidRow{13, program, "a kernel accessed memory out of bounds", "核函数越界访问显存"},
    XidRow{31, program, "a kernel touched an address that is not mapped",
           "核函数访问了未映射的地址"},
    XidRow{32, note, "a broken command stream reached the card", "显卡收到损坏的命令流"},
    XidRow{38, note, "a firmware error of the driver", "驱动固件错误"},
    XidRow{43, program, "a program's channel was stopped", "程序的通道被停止"},
    XidRow{45, program, "a program's channel was cleaned up after an error or a kill",
           "程序出错或被终止后其通道被清理"},
    XidRow{48, at_once, "an uncorrectable memory error (double bit)",
           "不可纠正的显存错误（双比特）"},
    XidRow{61, at_once, "an internal controller of the card stopped", "显卡内部控制器停止"},
    XidRow{62, at_once, "an internal controller of the card halted", "显卡内部控制器挂起"},
    XidRow{63, after_run, "a memory row was remapped or a page retired: the card needs a reset",
           "显存行已重映射或页已退役：需要重置显卡"},
    XidRow{64, at_once, "a memory row could not be remapped", "显存行重映射失败"},
    XidRow{68, program, "the video engine failed", "视频引擎出错"},
    XidRow{69, program, "a graphics engine class error", "图形引擎类错误"},
    XidRow{74, after_run, "an NVLink error", "NVLink 错误"},
    XidRow{79, at_once, "the card has fallen off the bus", "显卡已从总线掉线"},
    XidRow{92, note, "many corrected memory errors", "显存可纠正错误过多"},
    XidRow{94, after_run, "a contained memory error: one program was hit",
           "已隔离的显存错误：影响一个程序"},
    XidRow{95, at_once, "an uncontained memory error", "未隔离的显存错误"},
    XidRow{109, note, "a context switch timed out", "上下文切换超时"},
    XidRow{119, at_once, "the card's system processor does not answer", "显卡的系统处理器无应答"},
    XidRow{120, at_once, "the card's system processor failed", "显卡的系统处理器出错"},
    XidRow{140, after_run, "an unrecovered memory error", "未恢复的显存错误"},
    XidRow{154, after_run, "the driver asks for a reset of the card", "驱动要求重置显卡"},
};

std::string xid_reason(int64_t code) { return "xid_" + std::to_string(code); }

void weigh_xids(const CardLook& look, CardVerdict& verdict) {
  for (const int64_t code : look.xids) {
    const XidSeverity severity = xid_meaning(code).severity;
    const bool worse = severity == at_once && !verdict.ends_run;
    if (severity != after_run && severity != at_once) continue;
    if (verdict.quarantine.empty() || worse) verdict.quarantine = xid_reason(code);
    verdict.ends_run = verdict.ends_run || severity == at_once;
  }
}

void weigh_fault(const CardLook& look, CardVerdict& verdict) {
  const bool lost = look.sample != nullptr && look.sample->fault == "GPU_IS_LOST";
  if (look.faults_in_a_row < (lost ? 1 : kFaultsThatCount)) return;
  if (verdict.quarantine.empty()) verdict.quarantine = "lost";
  verdict.ends_run = true;
}

bool has_new_uncorrected(const CardLook& look) {
  if (look.before == nullptr) return false;
  const auto& now = look.sample->reading.ecc_uncorrected;
  const auto& then = look.before->reading.ecc_uncorrected;
  return now && then && *now > *then;
}

// Of a card that nobody rents: may it be granted?
std::string what_makes_unfit(const CardLook& look) {
  const CardSample& sample = *look.sample;
  if (sample.reading.row_remap_has_failed.value_or(0) != 0) return "remap_failed";
  if (sample.reading.row_remap_is_pending.value_or(0) != 0) return "remap_pending";
  if (sample.is_divided) return "divided";
  if (look.is_rented) return {};
  if (sample.reading.memory_used_bytes.value_or(0) <= look.empty_card_bytes) return {};
  return sample.processes.empty() ? "memory_held" : "process_left";
}

}  // namespace

XidMeaning xid_meaning(int64_t code) {
  for (const XidRow& row : kXids) {
    if (row.code == code) return {code, row.severity, {row.en, row.zh}};
  }
  return {code, note, {"an error that NVIDIA's list explains", "参见 NVIDIA 的 Xid 说明"}};
}

CardVerdict judge(const CardLook& look) {
  CardVerdict verdict;
  weigh_xids(look, verdict);
  if (!look.driver_answers) {
    verdict.unfit = "driver_silent";  // no news: nothing ends, nothing begins
    return verdict;
  }
  weigh_fault(look, verdict);
  if (look.sample == nullptr || !look.sample->fault.empty()) return verdict;
  if (has_new_uncorrected(look) && verdict.quarantine.empty()) verdict.quarantine = "ecc";
  verdict.unfit = what_makes_unfit(look);
  return verdict;
}

bool is_fatal(const std::string& reason) {
  if (reason == "lost") return true;
  int64_t code = 0;
  if (!reason.starts_with("xid_")) return false;
  std::from_chars(reason.data() + 4, reason.data() + reason.size(), code);
  return xid_meaning(code).severity == at_once;
}

std::optional<int64_t> unowned_bytes(const CardSample& sample) {
  if (!sample.reading.memory_used_bytes) return std::nullopt;
  int64_t owned = 0;
  for (const GpuProcess& process : sample.processes) {
    if (!process.memory_used_bytes) return std::nullopt;
    owned += *process.memory_used_bytes;
  }
  return std::max<int64_t>(*sample.reading.memory_used_bytes - owned, 0);
}

ConditionText condition_text(const std::string& reason) {
  const Text look_at_it{
      "look at it with nvidia-smi -q and dmesg; `cardhour admin gpu return` puts it back",
      "请用 nvidia-smi -q 与 dmesg 检查；`cardhour admin gpu return` 恢复出租"};
  if (reason.starts_with("xid_")) {
    int64_t code = 0;
    std::from_chars(reason.data() + 4, reason.data() + reason.size(), code);
    const XidMeaning meaning = xid_meaning(code);
    const std::string number = std::to_string(code);
    return {{"Xid " + number + ": " + meaning.what.en, "Xid " + number + "：" + meaning.what.zh},
            look_at_it};
  }
  if (reason == "lost") return {{"the driver lost the card", "驱动丢失了该显卡"}, look_at_it};
  if (reason == "ecc") {
    return {{"new uncorrectable memory errors", "出现新的不可纠正显存错误"}, look_at_it};
  }
  if (reason == "remap_pending") {
    return {{"a memory row waits to be remapped", "有显存行等待重映射"},
            {"reset the card (nvidia-smi -r) or reboot the host while nobody uses it",
             "在无人使用时重置显卡（nvidia-smi -r）或重启主机"}};
  }
  if (reason == "remap_failed") {
    return {{"its spare memory rows have run out", "备用显存行已用尽"},
            {"have the card replaced", "请更换显卡"}};
  }
  if (reason == "divided") {
    return {{"it is divided with MIG", "该卡已启用 MIG 切分"},
            {"whole cards are rented: nvidia-smi -mig 0", "仅出租整卡：nvidia-smi -mig 0"}};
  }
  if (reason == "memory_held") {
    return {
        {"VRAM is in use, and no process is seen that holds it", "显存被占用，但看不到占用进程"},
        {"reset the card (nvidia-smi -r); a process of another PID namespace may hold it",
         "请重置显卡（nvidia-smi -r）；可能被其他 PID 命名空间的进程占用"}};
  }
  if (reason == "process_left") {
    return {
        {"a process outside of any rental uses it", "有不属于任何租用的进程在使用该卡"},
        {"`cardhour admin gpu ps` names it; end it", "用 `cardhour admin gpu ps` 找到并结束它"}};
  }
  if (reason == "driver_silent") {
    return {{"the driver does not answer", "驱动没有应答"},
            {"look at dmesg for NVRM and Xid lines; a hung driver often needs a reboot",
             "请查看 dmesg 中的 NVRM 与 Xid 记录；驱动挂起通常需要重启主机"}};
  }
  return {{"by the operator", "运营者设定"},
          {"`cardhour admin gpu return` puts it back", "`cardhour admin gpu return` 恢复出租"}};
}

}  // namespace cardhour
