#include "adapters/gpu/process_table.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace cardhour {
namespace {

namespace fs = std::filesystem;

class ProcessTableTest : public testing::Test {
 protected:
  ProcessTableTest()
      : proc_(fs::path(testing::TempDir()) / ("cardhour_proc_" + std::to_string(getpid()))) {
    fs::create_directories(directory() / "root/etc");
    put("comm", "python3\n");
    put("status", "Name:\tpython3\nUid:\t1066536\t1066536\t1066536\t1066536\n");
    put("cgroup", "0::/lxc.payload.cardhour_i0123456789/user.slice/session-1.scope\n");
    put("uid_map", "         0    1065536      65536\n");
    put("root/etc/passwd", "root:x:0:0:root:/root:/bin/bash\nalice:x:1000:1000::/home/a:/bin/sh\n");
  }
  ~ProcessTableTest() override { fs::remove_all(proc_); }

  fs::path directory() const { return proc_ / "42"; }
  void put(const std::string& name, const std::string& text) {
    std::ofstream(directory() / name) << text;
  }
  GpuProcess describe(int64_t pid = 42) {
    GpuProcess process;
    process.pid = pid;
    ProcessTable(proc_.string()).describe(process);
    return process;
  }

  fs::path proc_;
};

TEST_F(ProcessTableTest, NamesContainerUserAndCommand) {
  const GpuProcess process = describe();
  EXPECT_EQ(process.container, "i0123456789");
  EXPECT_EQ(process.uid, 1000);
  EXPECT_EQ(process.user, "alice");
  EXPECT_EQ(process.command, "python3");
}

TEST_F(ProcessTableTest, AProcessThatEndedIsUnknown) {
  const GpuProcess process = describe(43);
  EXPECT_EQ(process.uid, std::nullopt);
  EXPECT_EQ(process.container, "");
}

TEST_F(ProcessTableTest, AUserWithoutANameKeepsItsNumber) {
  put("status", "Uid:\t1065541\t0\t0\t0\n");
  EXPECT_EQ(describe().uid, 5);
  EXPECT_EQ(describe().user, "");
  put("status", "Uid:\t7\t0\t0\t0\n");  // outside of the map: nobody inside
  EXPECT_EQ(describe().uid, std::nullopt);
}

TEST_F(ProcessTableTest, ALinkInsideNeverLeadsOutside) {
  std::ofstream(proc_ / "secret") << "outsider:x:1000:1000\n";
  fs::remove(directory() / "root/etc/passwd");
  fs::create_symlink(fs::absolute(proc_ / "secret"), directory() / "root/etc/passwd");
  EXPECT_EQ(describe().user, "");
  fs::remove(directory() / "root/etc/passwd");
  fs::create_symlink("../../../secret", directory() / "root/etc/passwd");
  EXPECT_EQ(describe().user, "");
}

TEST_F(ProcessTableTest, NamesAreHarmlessText) {
  put("root/etc/passwd", "\x1b[31mal ice\xff:x:1000:1000\n");
  EXPECT_EQ(describe().user, "[31malice");
  put("root/etc/passwd", std::string(500, 'x') + ":x:1000:1\n");
  EXPECT_EQ(describe().user.size(), 32u);
}

TEST(ContainerOf, FindsTheNameInBothKindsOfControlGroups) {
  EXPECT_EQ(container_of("0::/lxc.payload.cardhour_iabc\n"), "iabc");
  EXPECT_EQ(container_of("5:memory:/x\n4:cpu:/lxc.payload.cardhour_iabc/init.scope\n"), "iabc");
  EXPECT_EQ(container_of("0::/lxc.payload.web/x\n"), "web");
  EXPECT_EQ(container_of("0::/user.slice/lxc.monitor.x\n"), "");
  EXPECT_EQ(container_of(""), "");
}

}  // namespace
}  // namespace cardhour
