#include "domain/ssh_key.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/crypto.h"
#include "base/limits.h"

namespace cardhour {
namespace {

// A directory of its own, and ssh-keygen in it: OpenSSH is the judge of these tests.
class SshKeyTest : public testing::Test {
 protected:
  void SetUp() override {
    crypto_init();
    std::string pattern = testing::TempDir() + "ssh-key-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
    if (std::system("command -v ssh-keygen >/dev/null") != 0) GTEST_SKIP() << "no ssh-keygen";
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string path(const std::string& name) const { return directory_ + "/" + name; }
  std::string read(const std::string& name) const {
    std::ifstream file(path(name));
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
    chmod(path(name).c_str(), 0600);
  }
  // What it printed; nullopt when it failed.
  std::optional<std::string> keygen(const std::string& arguments) const {
    const std::string command = "cd " + directory_ + " && ssh-keygen " + arguments + " 2>&1";
    FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) return std::nullopt;
    std::string output;
    for (int c = 0; (c = std::fgetc(pipe)) != EOF;) output.push_back(static_cast<char>(c));
    if (pclose(pipe) != 0) return std::nullopt;
    return output;
  }
  // The public line of a new key.
  std::string made(const std::string& kind) const {
    EXPECT_TRUE(keygen("-q -N '' -C 'ann@desk' -f key -t " + kind).has_value()) << kind;
    return read("key.pub");
  }
  // The second word of `ssh-keygen -l`.
  std::string fingerprint(const std::string& name) const {
    std::istringstream words(keygen("-l -f " + name).value_or(""));
    std::string bits;
    std::string text;
    words >> bits >> text;
    return text;
  }
  static std::string refusal(const std::string& text) {
    const auto key = parse_ssh_key(text);
    return key ? "" : key.error().what.en;
  }

  std::string directory_;
};

std::string wire(const std::vector<std::string>& parts) {
  std::string blob;
  for (const std::string& part : parts) {
    for (int shift = 24; shift >= 0; shift -= 8) {
      blob.push_back(static_cast<char>(part.size() >> shift));
    }
    blob += part;
  }
  return base64({reinterpret_cast<const uint8_t*>(blob.data()), blob.size()});
}

TEST_F(SshKeyTest, AcceptsEveryKindThatOpensshMakes) {
  const std::pair<const char*, const char*> kinds[] = {{"ed25519", "ssh-ed25519"},
                                                       {"ecdsa -b 256", "ecdsa-sha2-nistp256"},
                                                       {"ecdsa -b 384", "ecdsa-sha2-nistp384"},
                                                       {"ecdsa -b 521", "ecdsa-sha2-nistp521"},
                                                       {"rsa -b 2048", "ssh-rsa"},
                                                       {"rsa -b 3072", "ssh-rsa"}};
  for (const auto& [kind, type] : kinds) {
    const std::string line = made(kind);
    const auto key = parse_ssh_key(line);
    ASSERT_TRUE(key.has_value()) << kind << ": " << key.error().what.en;
    EXPECT_EQ(key->type, type);
    EXPECT_EQ(key->comment, "ann@desk");
    EXPECT_EQ(key->normalized + "\n", line);
    EXPECT_EQ(key->fingerprint, fingerprint("key.pub")) << kind;
    std::filesystem::remove(path("key"));
    std::filesystem::remove(path("key.pub"));
  }
}

TEST_F(SshKeyTest, AcceptsKeysOfSecurityKeys) {
  const std::string point = "\x04" + std::string(64, 'p');
  const std::string lines[] = {
      "sk-ssh-ed25519@openssh.com " +
          wire({"sk-ssh-ed25519@openssh.com", std::string(32, 'k'), "ssh:"}),
      "sk-ecdsa-sha2-nistp256@openssh.com " +
          wire({"sk-ecdsa-sha2-nistp256@openssh.com", "nistp256", point, "ssh:"})};
  for (const std::string& line : lines) {
    EXPECT_EQ(refusal(line), "");
    EXPECT_EQ(parse_ssh_key(line)->comment, "");
  }
  write("sk.pub", lines[0] + "\n");
  EXPECT_EQ(parse_ssh_key(lines[0])->fingerprint, fingerprint("sk.pub"));
}

TEST_F(SshKeyTest, TidiesUpTheSpacesAround) {
  const std::string line = "ssh-ed25519 " + wire({"ssh-ed25519", std::string(32, 'k')});
  EXPECT_EQ(parse_ssh_key("  " + line + "   a b \r\n")->normalized, line + " a b");
  const auto cut = parse_ssh_key(line + " " + std::string(127, 'x') + "卡");
  ASSERT_TRUE(cut.has_value());
  EXPECT_LE(cut->comment.size(), limits::kNameBytes);
  EXPECT_EQ(parse_ssh_key(line + " " + std::string(127, 'x') + " y")->comment,
            std::string(127, 'x'));
}

TEST_F(SshKeyTest, RefusesAPrivateKeyAndSaysSo) {
  made("ed25519");
  EXPECT_NE(refusal(read("key")).find("private key"), std::string::npos);
}

TEST_F(SshKeyTest, RefusesShortRsa) {
  EXPECT_NE(refusal(made("rsa -b 1024")).find("2048"), std::string::npos);
}

TEST_F(SshKeyTest, RefusesOptionsSeveralLinesAndOtherText) {
  const std::string line = "ssh-ed25519 " + wire({"ssh-ed25519", std::string(32, 'k')});
  EXPECT_EQ(refusal(line), "");
  for (const std::string& text :
       {std::string(), std::string(" "), std::string("ssh-ed25519"), std::string("ssh-ed25519 "),
        std::string("hello world"), "command=\"sh\" " + line, "no-pty " + line, line + "\n" + line,
        line + "\r" + line, "ssh-dss " + wire({"ssh-dss", "x"}),
        "ssh-ed25519 " + wire({"ssh-ed25519", std::string(31, 'k')}),
        "ssh-ed25519 " + wire({"ssh-ed25519", std::string(32, 'k'), "more"}),
        "ssh-ed25519 " + wire({"ssh-rsa", std::string(32, 'k')}),
        "ssh-ed25519 " + wire({"ssh-ed25519", std::string(32, 'k')}).substr(1),
        std::string("ssh-ed25519 !!!!"), line + " bell\a",
        line + std::string(limits::kSshKeyBytes, 'c')}) {
    const auto key = parse_ssh_key(text);
    ASSERT_FALSE(key.has_value()) << text;
    EXPECT_EQ(key.error().field, "public_key");
    EXPECT_FALSE(key.error().what.zh.empty());
  }
}

TEST_F(SshKeyTest, RefusesAnEcdsaKeyOfAnotherCurveOrSize) {
  const std::string point = "\x04" + std::string(64, 'p');
  const auto line = [](const std::string& curve, const std::string& with) {
    return "ecdsa-sha2-nistp256 " + wire({"ecdsa-sha2-nistp256", curve, with});
  };
  EXPECT_EQ(refusal(line("nistp256", point)), "");
  EXPECT_NE(refusal(line("nistp384", point)), "");
  EXPECT_NE(refusal(line("", point)), "");
  EXPECT_NE(refusal(line("256", point)), "");
  EXPECT_NE(refusal(line("nistp256", "")), "");
  EXPECT_NE(refusal(line("nistp256", point + "p")), "");
}

TEST_F(SshKeyTest, MakesHostKeysThatOpensshReads) {
  std::array<uint8_t, 32> seed{};
  for (int round = 0; round < 8; ++round) {  // every length of padding
    seed[0] = static_cast<uint8_t>(round);
    const std::string comment(static_cast<size_t>(round), 'c');
    const HostKey key = make_host_key(seed, comment);
    write("host", key.private_pem.reveal());
    write("host.pub", key.public_line + "\n");
    const auto derived = keygen("-y -f host");
    ASSERT_TRUE(derived.has_value()) << round;
    EXPECT_EQ(parse_ssh_key(*derived)->fingerprint, key.fingerprint);
    EXPECT_EQ(fingerprint("host"), key.fingerprint);
    EXPECT_EQ(fingerprint("host.pub"), key.fingerprint);
    EXPECT_EQ(parse_ssh_key(key.public_line)->comment, comment);
  }
}

TEST_F(SshKeyTest, AHostKeyFollowsFromItsSeed) {
  const HostKey a = make_host_key({1}, "x");
  EXPECT_EQ(a.private_pem.reveal(), make_host_key({1}, "x").private_pem.reveal());
  EXPECT_NE(a.fingerprint, make_host_key({2}, "x").fingerprint);
}

}  // namespace
}  // namespace cardhour
