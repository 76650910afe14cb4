// Descriptor: an open file, socket or pipe end, closed when it goes. Not thread-safe.
#pragma once

#include <unistd.h>

#include <utility>

namespace cardhour::guest {

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() { reset(); }

  int get() const { return number_; }
  bool ok() const { return number_ >= 0; }
  void reset() {
    if (number_ >= 0) close(std::exchange(number_, -1));
  }

 private:
  int number_;
};

}  // namespace cardhour::guest
