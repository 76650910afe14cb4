#include "adapters/gpu/gpu_child.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <iostream>
#include <thread>

#include "adapters/gpu/nvml_probe.h"
#include "adapters/gpu/nvml_sampler.h"
#include "adapters/gpu/process_table.h"

namespace cardhour {
namespace {

struct ChildOptions {
  std::string library = "libnvidia-ml.so.1";
  std::string lock;
};

ChildOptions options_of(int argc, char** argv) {
  ChildOptions options;
  for (int i = 1; i + 1 < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "--library") options.library = argv[i + 1];
    if (name == "--lock") options.lock = argv[i + 1];
  }
  return options;
}

// The one before may be on its way out; one that hangs in the driver keeps its lock.
bool take_lock(const std::string& path) {
  if (path.empty()) return true;
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return true;  // no place for it is no reason to see nothing
  for (int attempt = 0; attempt < 20; ++attempt) {
    if (::flock(file, LOCK_EX | LOCK_NB) == 0) return true;  // held until the process ends
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return false;
}

Error taken() {
  return Error{
      ErrorCode::engine_failed,
      Text{"an earlier GPU reader still hangs in the driver", "先前的 GPU 读取进程仍卡在驱动中"},
      Text{"look at dmesg for NVRM and Xid lines; a hung driver often needs a reboot of "
           "the host",
           "请查看 dmesg 中的 NVRM 与 Xid 记录；驱动挂起通常需要重启主机"},
      ""};
}

class Reader {
 public:
  explicit Reader(const ChildOptions& options)
      : may_read_(take_lock(options.lock)), probe_(options.library), sampler_(options.library) {}

  std::string answer(std::string_view question) {
    const bool samples = question == "sample";
    if (!may_read_) {
      return samples ? gpu_answer_text(Result<GpuSample>(fail(taken())))
                     : gpu_answer_text(Result<ProbedGpus>(fail(taken())));
    }
    if (!samples) return gpu_answer_text(probe_.probe());
    auto sample = sampler_.sample();
    if (sample) {
      for (CardSample& card : sample->cards) {
        for (GpuProcess& process : card.processes) processes_.describe(process);
      }
    }
    return gpu_answer_text(sample);
  }

 private:
  bool may_read_;
  NvmlProbe probe_;
  NvmlSampler sampler_;
  ProcessTable processes_;
};

}  // namespace

int gpu_child_main(int argc, char** argv) {
  Reader reader(options_of(argc, argv));
  std::string question;
  while (std::getline(std::cin, question)) {
    std::cout << reader.answer(question) << '\n' << std::flush;
    if (!std::cout) break;
  }
  return 0;
}

}  // namespace cardhour
