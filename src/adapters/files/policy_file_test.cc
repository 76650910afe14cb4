#include "adapters/files/policy_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace cardhour {
namespace {

// Loads the text into the policy; the error without the file's name, or "".
std::string load(const std::string& text, Policy& policy) {
  const std::string path = testing::TempDir() + "policy-" + std::to_string(getpid()) + ".toml";
  std::ofstream(path) << text;
  const Status status = load_policy(path, policy);
  std::filesystem::remove(path);
  if (status) return "";
  EXPECT_EQ(status.error().code, ErrorCode::invalid_argument);
  EXPECT_FALSE(status.error().field.empty());
  EXPECT_NE(status.error().what.zh.find(path), std::string::npos);
  return status.error().what.en.substr(path.size());
}
std::string error_of(const std::string& text) {
  Policy policy;
  return load(text, policy);
}

TEST(PolicyFile, OverlaysWhatItSays) {
  Policy policy;
  EXPECT_EQ(load(R"(
[money]
currency = "USD"
symbol = "$"
decimals = 3
minimum_unit = "1h"
minimum_charge = "0.05"
arrears_notice = "20m"
arrears_notice_withdrawn = "30m"
[instances]
ready_timeout = "3m"
start_attempts = 5
bin = "3d"
no_gpu_millicores = 1000
no_gpu_memory = "4G"
data_disk = "100G"
[network]
ssh_ports = "30000-30999"
[backup]
directory = "/srv/backups"
interval = "6h"
keep = 28
[accounts]
registration = "invitation"
session = "12h"
[quotas]
cards = 16
[estimates]
package_week_percent = 75
machine_price = "30000"
)",
                 policy),
            "");
  EXPECT_EQ(policy.currency, (Currency{"USD", "$", 3}));
  EXPECT_EQ(policy.minimum_unit, hours(1));
  EXPECT_EQ(policy.minimum_charge, Money{50'000});
  EXPECT_EQ(policy.arrears_notice, minutes(20));
  EXPECT_EQ(policy.ready_timeout, minutes(3));
  EXPECT_EQ(policy.start_attempts, 5);
  EXPECT_EQ(policy.ssh_ports, (PortRange{30'000, 30'999}));
  EXPECT_EQ(policy.backup_directory, "/srv/backups");
  EXPECT_EQ(policy.backup_interval, hours(6));
  EXPECT_EQ(policy.backup_keep, 28);
  EXPECT_EQ(policy.bin, days(3));
  EXPECT_EQ(policy.no_gpu_memory_bytes, 4 * kGiB);
  EXPECT_EQ(policy.data_disk_bytes, 100 * kGiB);
  EXPECT_EQ(policy.registration, Registration::invitation);
  EXPECT_EQ(policy.session, hours(12));
  EXPECT_EQ(policy.quotas.cards, 16);
  EXPECT_EQ(policy.estimates.package_week_percent, 75);
  EXPECT_EQ(policy.estimates.machine_price, Money{30'000'000'000});
  EXPECT_EQ(policy.estimates.package_day_percent, 90);
  // What it does not say stays.
  EXPECT_EQ(policy.hold, hours(1));
  EXPECT_EQ(policy.quotas.running, 5);
}

TEST(PolicyFile, IsOptional) {
  Policy policy;
  EXPECT_TRUE(load_policy("", policy).has_value());
  EXPECT_EQ(load("", policy), "");
  EXPECT_EQ(load_policy("/nonexistent/cardhour.toml", policy).error().code, ErrorCode::not_found);
}

TEST(PolicyFile, NamesTheLineOfWhatIsWrong) {
  const std::pair<const char*, const char*> rows[] = {
      {"[mony]\n", ", line 1: \"mony\" is not known here"},
      {"hold = \"1h\"\n", ", line 1: \"hold\" is not known here"},
      {"[money]\n\nholds = \"1h\"\n", ", line 3: \"holds\" is not known here"},
      {"[money]\nhold = 3600\n", ", line 2: \"hold\" must be text in quotes"},
      {"[money]\nhold = \"soon\"\n", ", line 2: \"hold\" is not a length of time"},
      {"[money]\nminimum_unit = \"2h\"\n", ", line 2: \"minimum_unit\" must be 1 s to 1 h"},
      {"[money]\nminimum_charge = 0.01\n", ", line 2: \"minimum_charge\" must be text in quotes"},
      {"[money]\nminimum_charge = \"-0.01\"\n", ", line 2: \"minimum_charge\" is negative"},
      {"[money]\ndecimals = 4\n", ", line 2: \"decimals\" must be 0 to 3"},
      {"[money]\ncurrency = \"\"\n", ", line 2: \"currency\" has 1 to 16 bytes"},
      {"[instances]\nno_gpu_memory = \"big\"\n", ", line 2: \"no_gpu_memory\" is not a size"},
      {"[instances]\nstart_attempts = 1.5\n",
       ", line 2: \"start_attempts\" must be a whole number"},
      {"[accounts]\nregistration = \"maybe\"\n",
       ", line 2: \"registration\" is open, invitation or closed"},
      {"[quotas]\ncards = -1\n", ", line 2: \"cards\" must be 0 to 1000000"},
      {"[estimates]\nspeedup_percent_2 = 300\n",
       ", line 2: \"speedup_percent_2\" must be 100 to 200"},
      {"quotas = 3\n", ", line 1: \"quotas\" must be a section"},
  };
  for (const auto& [text, expected] : rows) EXPECT_EQ(error_of(text), expected);
}

// What the TOML parser itself does not expect is refused too.
TEST(PolicyFile, RefusesABracketAtTheEndOfALine) {
  const std::string path = testing::TempDir() + "bracket-" + std::to_string(getpid()) + ".toml";
  std::ofstream(path) << "[\n";
  Policy policy;
  const Status status = load_policy(path, policy);
  std::filesystem::remove(path);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::invalid_argument);
}

TEST(PolicyFile, ChecksWhatMustHoldBetweenValues) {
  EXPECT_NE(error_of("[money]\narrears_notice = \"15m\"\n"), "");
  EXPECT_NE(error_of("[instances]\ndata_disk = \"9999G\"\n"), "");
  EXPECT_NE(error_of("[instances]\ndata_disk_min = \"60G\"\n"), "");
  EXPECT_NE(error_of("[instances]\nobserve_interval = \"1m\"\n"), "");
}

TEST(PolicyFile, LeavesThePolicyAloneWhenItIsRefused) {
  Policy policy;
  EXPECT_NE(load("[money]\nhold = \"2h\"\n[quotas]\ncards = \"many\"\n", policy), "");
  EXPECT_EQ(policy.hold, hours(1));
}

}  // namespace
}  // namespace cardhour
