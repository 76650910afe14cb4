#include "adapters/http/worker_pool.h"

#include <pthread.h>

#include <utility>

namespace cardhour::http {

WorkerPool::WorkerPool(int threads, size_t queue_max) : queue_max_(queue_max) {
  for (int i = 0; i < threads; ++i) {
    threads_.emplace_back([this] { run(); });
    pthread_setname_np(threads_.back().native_handle(), "http-worker");
  }
}

WorkerPool::~WorkerPool() { stop(); }

bool WorkerPool::try_post(Task task) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_ || requests_.size() >= queue_max_) return false;
    requests_.push_back(std::move(task));
  }
  ready_.notify_one();
  return true;
}

void WorkerPool::post_poll(Task task) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    polls_.push_back(std::move(task));
  }
  ready_.notify_one();
}

void WorkerPool::stop() {
  std::deque<Task> dropped_requests;
  std::deque<Task> dropped_polls;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    dropped_requests.swap(requests_);
    dropped_polls.swap(polls_);
  }
  ready_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

WorkerPool::Task WorkerPool::take_locked() {
  const bool poll = requests_.empty() || (!polls_.empty() && ++turn_ % 4 == 0);
  std::deque<Task>& queue = poll ? polls_ : requests_;
  Task task = std::move(queue.front());
  queue.pop_front();
  return task;
}

void WorkerPool::run() {
  while (true) {
    Task task;
    {
      std::unique_lock lock(mutex_);
      ready_.wait(lock, [this] { return stopping_ || !requests_.empty() || !polls_.empty(); });
      if (stopping_) return;
      task = take_locked();
    }
    task();
  }
}

}  // namespace cardhour::http
