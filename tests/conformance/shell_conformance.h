// The conformance suite of the Shells port: what a simulated shell and one on Incus do alike. A
// test program includes this file once and says:
//
//   INSTANTIATE_TEST_SUITE_P(Sim, ShellConformance, testing::Values(ShellAdapter{
//       "sim", [] { return std::make_unique<SimShellWorld>(); }}), shell_adapter_name);
//
// A factory that returns null skips the test. What is typed is what both understand: echo,
// stty size, wc -c, yes, exit. Words are typed in two halves, so that their echo is not taken for
// output.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "ports/shell.h"

namespace cardhour {

class ShellWorld {
 public:
  virtual ~ShellWorld() = default;
  virtual Shells& shells() = 0;
  virtual InstanceId running() = 0;
  virtual InstanceId not_there() = 0;
};

struct ShellAdapter {
  std::string name;
  std::function<std::unique_ptr<ShellWorld>()> make;
};
inline std::string shell_adapter_name(const testing::TestParamInfo<ShellAdapter>& info) {
  return info.param.name;
}

// Reads a shell into memory, as far as it is told to.
class ShellReader {
 public:
  explicit ShellReader(std::unique_ptr<Shell> shell) : shell_(std::move(shell)) {}

  Shell& shell() { return *shell_; }

  // Reads until the text so far has it.
  bool sees(const std::string& wanted) {
    return reads_until([&] { return text_.find(wanted) != std::string::npos; });
  }
  bool sees_bytes(size_t count) {
    return reads_until([&] { return total_ >= count; });
  }
  bool sees_end() {
    return reads_until([&] { return ended_; });
  }
  // Types it all; true once the shell took it.
  bool types(const std::string& bytes) {
    {
      const std::lock_guard lock(mutex_);
      typed_ = false;
    }
    shell_->write(bytes, [this] {
      const std::lock_guard lock(mutex_);
      typed_ = true;
      changed_.notify_all();
    });
    return reads_until([&] { return typed_; });
  }
  const ShellOutput& end() const { return end_; }
  std::string text() {
    const std::lock_guard lock(mutex_);
    return text_;
  }

 private:
  template <class Condition>
  bool reads_until(Condition there) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    std::unique_lock lock(mutex_);
    while (!there()) {
      if (!asked_ && !ended_) {
        asked_ = true;
        lock.unlock();
        ask();
        lock.lock();
        continue;  // it may have come meanwhile
      }
      if (changed_.wait_until(lock, deadline) == std::cv_status::timeout) return false;
    }
    return true;
  }
  void ask() {
    shell_->read([this](ShellOutput output) {
      const std::lock_guard lock(mutex_);
      asked_ = false;
      total_ += output.bytes.size();
      text_ += output.bytes;
      if (text_.size() > 4'000'000) text_.erase(0, 2'000'000);
      if (output.bytes.empty()) {
        ended_ = true;
        end_ = std::move(output);
      }
      changed_.notify_all();
    });
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::string text_;
  size_t total_ = 0;
  bool asked_ = false;
  bool typed_ = false;
  bool ended_ = false;
  ShellOutput end_;
  std::unique_ptr<Shell> shell_;
};

class ShellConformance : public testing::TestWithParam<ShellAdapter> {
 protected:
  void SetUp() override {
    world_ = GetParam().make();
    if (world_ == nullptr) GTEST_SKIP() << "no " << GetParam().name << " to test with";
  }
  std::unique_ptr<ShellReader> open(ShellSize size = {}) {
    return std::make_unique<ShellReader>(world_->shells().open(world_->running(), size));
  }
  std::unique_ptr<ShellWorld> world_;
};

TEST_P(ShellConformance, EchoesAndEndsWithItsCode) {
  const auto reader = open();
  ASSERT_TRUE(reader->types("echo hel''lo there\r"));
  ASSERT_TRUE(reader->sees("hello there\r\n")) << reader->text();
  ASSERT_TRUE(reader->types("exit 7\r"));
  ASSERT_TRUE(reader->sees_end());
  EXPECT_EQ(reader->end().exit_code, 7);
  EXPECT_FALSE(reader->end().failure);
}

TEST_P(ShellConformance, HasTheSizeItIsToldToHave) {
  const auto reader = open({100, 40});
  ASSERT_TRUE(reader->types("stty size\r"));
  ASSERT_TRUE(reader->sees("40 100\r\n")) << reader->text();
  reader->shell().resize({132, 43});
  // Told on a way of its own: asked again until it has arrived.
  for (int turn = 0; turn < 100 && reader->text().find("43 132\r\n") == std::string::npos; ++turn) {
    ASSERT_TRUE(reader->types("stty size\recho as''ked-" + std::to_string(turn) + "\r"));
    ASSERT_TRUE(reader->sees("asked-" + std::to_string(turn) + "\r\n"));
  }
  EXPECT_NE(reader->text().find("43 132\r\n"), std::string::npos);
}

TEST_P(ShellConformance, ALargePasteArrivesWhole) {
  const auto reader = open();
  ASSERT_TRUE(reader->types("wc -c\r"));
  std::string line(63, 'x');
  line += '\n';
  std::string paste;
  while (paste.size() < 1'000'000) paste += line;
  for (size_t at = 0; at < paste.size(); at += 64'000) {
    ASSERT_TRUE(reader->types(paste.substr(at, 64'000)));
  }
  ASSERT_TRUE(reader->types("\x04"));
  EXPECT_TRUE(reader->sees(std::to_string(paste.size()) + "\r\n"));
}

TEST_P(ShellConformance, EndlessOutputComesAsFastAsItIsAskedForAndCanBeInterrupted) {
  const auto reader = open();
  ASSERT_TRUE(reader->types("yes\r"));
  ASSERT_TRUE(reader->sees_bytes(2'000'000));
  ASSERT_TRUE(reader->types("\x03"));
  ASSERT_TRUE(reader->types("echo st''ill here\r"));
  EXPECT_TRUE(reader->sees("still here\r\n"));
}

TEST_P(ShellConformance, CanBeHungUp) {
  const auto reader = open();
  ASSERT_TRUE(reader->types("echo u''p and running\r"));
  ASSERT_TRUE(reader->sees("up and running\r\n"));
  reader->shell().end();
  EXPECT_TRUE(reader->sees_end());
}

TEST_P(ShellConformance, SaysWhyThereIsNone) {
  ShellReader reader(world_->shells().open(world_->not_there(), {}));
  ASSERT_TRUE(reader.sees_end());
  ASSERT_TRUE(reader.end().failure);
  EXPECT_FALSE(reader.end().failure->what.zh.empty());
}

}  // namespace cardhour
