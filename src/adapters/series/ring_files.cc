#include "adapters/series/ring_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>

#include "base/enum_text.h"

namespace cardhour {
namespace {

struct Slot {
  uint32_t seconds = 0;  // since 1970, where the slot begins; 0: never written
  SeriesRow values{};
};
static_assert(sizeof(Slot) == 64);
constexpr int64_t kSlotBytes = sizeof(Slot);

struct Header {
  char mark[8];  // "CHRING1\0"
  char rest[56];
};
static_assert(sizeof(Header) == kSlotBytes);
constexpr char kMark[8] = "CHRING1";

int64_t ring_begin(size_t tier) {
  int64_t slots = 1;  // the header
  for (size_t i = 0; i < tier; ++i) slots += kSeriesTiers[i].slots;
  return slots * kSlotBytes;
}

Timestamp slot_begin(Timestamp at, size_t tier) {
  const int64_t step = kSeriesTiers[tier].step.ms;
  return {at.ms / step * step};
}

int64_t place_of(Timestamp slot, size_t tier) {
  const SeriesTier& ring = kSeriesTiers[tier];
  return ring_begin(tier) + slot.ms / ring.step.ms % ring.slots * kSlotBytes;
}

uint32_t seconds_of(Timestamp slot) { return static_cast<uint32_t>(slot.ms / 1000); }

class File {
 public:
  File(const std::string& path, int flags) : file_(::open(path.c_str(), flags | O_CLOEXEC, 0600)) {}
  ~File() {
    if (file_ >= 0) ::close(file_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool is_open() const { return file_ >= 0; }
  bool write(const void* bytes, int64_t count, int64_t place) const {
    return ::pwrite(file_, bytes, static_cast<size_t>(count), place) == count;
  }
  // Slots from `place`; those past the end of the file are as never written.
  void read(std::vector<Slot>& slots, int64_t place) const {
    size_t done = 0;
    const size_t wanted = slots.size() * sizeof(Slot);
    auto* bytes = reinterpret_cast<char*>(slots.data());
    while (done < wanted) {
      const ssize_t got =
          ::pread(file_, bytes + done, wanted - done, place + static_cast<int64_t>(done));
      if (got <= 0) return;
      done += static_cast<size_t>(got);
    }
  }

 private:
  int file_;
};

// The slots of one tier whose time is in [from, to), in order.
std::vector<SeriesPoint> read_range(const File& file, size_t tier, Timestamp from, Timestamp to) {
  const SeriesTier& ring = kSeriesTiers[tier];
  const int64_t step = ring.step.ms;
  int64_t first = (std::max<int64_t>(from.ms, 0) + step - 1) / step;
  const int64_t last = (std::max<int64_t>(to.ms, 0) + step - 1) / step;  // one past
  first = std::max(first, last - ring.slots);
  std::vector<SeriesPoint> points;
  while (first < last) {
    const int64_t in_ring = first % ring.slots;
    const int64_t count = std::min(last - first, ring.slots - in_ring);
    std::vector<Slot> slots(static_cast<size_t>(count));
    file.read(slots, ring_begin(tier) + in_ring * kSlotBytes);
    for (int64_t i = 0; i < count; ++i) {
      const Timestamp at{(first + i) * step};
      const Slot& slot = slots[static_cast<size_t>(i)];
      if (slot.seconds == seconds_of(at)) points.push_back({at, slot.values});
    }
    first += count;
  }
  return points;
}

bool write_slot(const File& file, size_t tier, Timestamp slot, const SeriesRow& row) {
  const Slot bytes{seconds_of(slot), row};
  return file.write(&bytes, kSlotBytes, place_of(slot, tier));
}

// The slot of `tier` in which `finer` lies, from the finer ring.
bool roll_up(const File& file, SeriesKind kind, size_t tier, Timestamp finer) {
  const Timestamp slot = slot_begin(finer, tier);
  const auto points = read_range(file, tier - 1, slot, slot + kSeriesTiers[tier].step);
  return points.empty() || write_slot(file, tier, slot, combine(kind, points));
}

// Where the writer before this process stopped.
std::optional<Timestamp> newest_of(const File& file) {
  std::vector<Slot> slots(static_cast<size_t>(kSeriesTiers[0].slots));
  file.read(slots, ring_begin(0));
  uint32_t newest = 0;
  for (const Slot& slot : slots) newest = std::max(newest, slot.seconds);
  if (newest == 0) return std::nullopt;
  return Timestamp{int64_t{newest} * 1000};
}

tl::unexpected<Error> cannot(const std::string& path) {
  return fail(ErrorCode::internal, text("cannot keep telemetry in {}: {}",
                                        "无法写入监控数据 {}：{}", path, std::strerror(errno)));
}

bool is_safe_name(const std::string& text) {
  return !text.empty() && text.size() <= 100 && text.front() != '.' &&
         text.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") ==
             std::string::npos;
}

}  // namespace

Result<std::unique_ptr<RingFiles>> RingFiles::open(const std::string& directory) {
  if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) return cannot(directory);
  return std::unique_ptr<RingFiles>(new RingFiles(directory));
}

std::string RingFiles::path_of(const SeriesId& id) const {
  return directory_ + "/" + std::string(enum_text(id.kind)) + "-" + id.text + ".ring";
}

Status RingFiles::append(const SeriesId& id, Timestamp at, const SeriesRow& row) {
  if (!is_safe_name(id.text)) {
    return fail(ErrorCode::internal, text("no series is named {}", "没有名为 {} 的序列", id.text));
  }
  const std::string path = path_of(id);
  const std::lock_guard lock(mutex_);
  const File file(path, O_RDWR | O_CREAT);
  if (!file.is_open()) return cannot(path);
  const Timestamp slot = slot_begin(at, 0);
  auto known = newest_.find(id);
  if (known == newest_.end()) {
    Header header{};
    std::memcpy(header.mark, kMark, sizeof kMark);
    if (!file.write(&header, kSlotBytes, 0)) return cannot(path);
    known = newest_.emplace(id, newest_of(file).value_or(slot)).first;
  }
  const Timestamp before = known->second;
  if (!write_slot(file, 0, slot, row)) return cannot(path);
  for (size_t tier = 1; tier < kSeriesTiers.size(); ++tier) {
    if (slot_begin(before, tier) == slot_begin(slot, tier)) break;
    if (!roll_up(file, id.kind, tier, before)) return cannot(path);
  }
  known->second = slot;
  return {};
}

Result<std::vector<SeriesPoint>> RingFiles::read(const SeriesId& id, size_t tier, Timestamp from,
                                                 Timestamp to) {
  if (!is_safe_name(id.text)) return std::vector<SeriesPoint>();
  const std::string path = path_of(id);
  const File file(path, O_RDONLY);
  if (!file.is_open() && errno == ENOENT) return std::vector<SeriesPoint>();
  if (!file.is_open()) return cannot(path);
  std::vector<SeriesPoint> points = read_range(file, tier, from, to);
  // The slot that still fills up is not in a coarser ring yet.
  if (tier > 0) {
    std::vector<SeriesPoint> finer =
        read_range(file, 0, points.empty() ? from : points.back().at + kSeriesTiers[tier].step, to);
    for (SeriesPoint& point : resample(id.kind, finer, kSeriesTiers[tier].step)) {
      if (points.empty() || point.at > points.back().at) points.push_back(point);
    }
  }
  return points;
}

Result<std::vector<std::string>> RingFiles::list(SeriesKind kind) {
  const std::string begin = std::string(enum_text(kind)) + "-";
  constexpr std::string_view kEnd = ".ring";
  std::vector<std::string> names;
  std::error_code wrong;
  for (const auto& entry : std::filesystem::directory_iterator(directory_, wrong)) {
    std::string name = entry.path().filename().string();
    if (!name.starts_with(begin) || !name.ends_with(kEnd)) continue;
    names.push_back(name.substr(begin.size(), name.size() - begin.size() - kEnd.size()));
  }
  if (wrong) return cannot(directory_);
  return names;
}

Status RingFiles::remove(const SeriesId& id) {
  if (!is_safe_name(id.text)) return {};
  const std::string path = path_of(id);
  const std::lock_guard lock(mutex_);
  newest_.erase(id);
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return cannot(path);
  return {};
}

}  // namespace cardhour
