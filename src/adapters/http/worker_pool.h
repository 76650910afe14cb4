// The small bounded pool that runs handlers, which may block on the store, apart from the
// I/O threads. Requests that do not fit are refused (503); polls of streams and waiting
// answers queue apart, at most one for each, and get every fourth turn under load.
// Thread-safe.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace cardhour::http {

class WorkerPool {
 public:
  using Task = std::function<void()>;

  WorkerPool(int threads, size_t queue_max);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // False when the queue is full or the pool is stopping: the task was not taken.
  [[nodiscard]] bool try_post(Task task);
  // The caller bounds how many it posts. Dropped when the pool is stopping.
  void post_poll(Task task);
  // Drops what waits, ends what runs, joins. Idempotent.
  void stop();

 private:
  void run();
  Task take_locked();

  const size_t queue_max_;
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<Task> requests_;
  std::deque<Task> polls_;
  unsigned turn_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace cardhour::http
