#include "adapters/incus/host_facts.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace cardhour {
namespace {

namespace fs = std::filesystem;

class HostFactsTest : public testing::Test {
 protected:
  HostFactsTest() : root_(testing::TempDir() + "cardhour_facts_" + std::to_string(getpid())) {}
  ~HostFactsTest() override { fs::remove_all(root_); }
  void put(const std::string& path, const std::string& text) {
    const fs::path file = fs::path(root_) / path;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  HostFacts facts() const { return HostFacts(root_ + "/proc", root_ + "/cgroup"); }

  std::string root_;
};

TEST_F(HostFactsTest, CountsOpenSshConnectionsOnly) {
  put("proc/7/net/tcp",
      "  sl  local_address rem_address   st\n"
      "   0: 00000000:0016 00000000:0000 0A 0\n"    // listens
      "   1: 0100B10A:0016 0100007F:C001 01 0\n"    // a session
      "   2: 0100B10A:0016 0100007F:C002 06 0\n"    // just closed
      "   3: 0100B10A:C003 0100007F:0016 01 0\n"    // one that goes out
      "   4: 0100B10A:1F90 0100007F:C004 01 0\n");  // another port
  EXPECT_EQ(facts().ssh_sessions(7), 1);
  put("proc/7/net/tcp6", "1: 0000000000000000FFFF00000100B10A:0016 0:C001 01 0\n");
  EXPECT_EQ(facts().ssh_sessions(7), 2);
  EXPECT_EQ(facts().ssh_sessions(8), std::nullopt);
}

TEST_F(HostFactsTest, ReadsTheUnifiedTree) {
  put("proc/7/cgroup", "0::/lxc.payload.cardhour_i1/init.scope\n");
  EXPECT_FALSE(facts().disk_traffic(7));
  put("cgroup/lxc.payload.cardhour_i1/io.stat",
      "8:0 rbytes=100 wbytes=20 rios=1 wios=1\n7:3 rbytes=5 wbytes=6 rios=1\n");
  ASSERT_TRUE(facts().disk_traffic(7));
  EXPECT_EQ(facts().disk_traffic(7)->read_bytes, 105);
  EXPECT_EQ(facts().disk_traffic(7)->written_bytes, 26);
}

TEST_F(HostFactsTest, ReadsTheOldTree) {
  put("proc/7/cgroup", "4:blkio:/lxc.payload.cardhour_i1/x\n0::/lxc.payload.cardhour_i1\n");
  put("cgroup/blkio/lxc.payload.cardhour_i1/blkio.throttle.io_service_bytes_recursive",
      "8:0 Read 100\n8:0 Write 30\n8:0 Sync 30\n8:0 Total 130\nTotal 130\n");
  ASSERT_TRUE(facts().disk_traffic(7));
  EXPECT_EQ(facts().disk_traffic(7)->read_bytes, 100);
  EXPECT_EQ(facts().disk_traffic(7)->written_bytes, 30);
}

TEST_F(HostFactsTest, AProcessOfTheHostIsNobodysContainer) {
  put("proc/7/cgroup", "0::/user.slice\n");
  put("cgroup/user.slice/io.stat", "8:0 rbytes=1 wbytes=1\n");
  EXPECT_FALSE(facts().disk_traffic(7));
}

}  // namespace
}  // namespace cardhour
