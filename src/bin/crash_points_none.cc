// A build without tests has no crash points.
#include <cstdlib>

#include "bin/crash_points.h"

namespace cardhour {

Result<std::unique_ptr<CrashPoints>> crash_points_from_environment(Store&, Engine&) {
  if (std::getenv("CARDHOUR_CRASH_AT") == nullptr) return nullptr;
  return fail(ErrorCode::invalid_argument,
              Text{"CARDHOUR_CRASH_AT is for tests, and this build has none",
                   "CARDHOUR_CRASH_AT 仅供测试使用，当前构建不含测试"},
              Text{"Unset it.", "请取消设置该环境变量。"});
}

std::vector<std::string> crash_points() { return {}; }

}  // namespace cardhour
