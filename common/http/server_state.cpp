#include "common/http/server_state.h"

#include <utility>

#include <boost/asio/post.hpp>

namespace slipstream::http {

void ServerState::run(std::function<void()> task) {
  if (loop.get_executor().running_in_this_thread()) return task();
  run_last(std::move(task));
}

// The lock makes the order certain: no task is posted behind `last` of stop().
void ServerState::run_last(std::function<void()> task) {
  const std::lock_guard lock(mutex_);
  if (!stopped_) boost::asio::post(loop, std::move(task));
}

void ServerState::stop(std::function<void()> last) {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  boost::asio::post(loop, std::move(last));
}

// The counter changes under the lock, so that await_nobody() cannot miss the notification between
// its check and its wait.
void ServerState::left() {
  std::lock_guard lock(mutex_);
  connections.fetch_sub(1, std::memory_order_relaxed);
  emptier_.notify_all();
}

void ServerState::stopped_listening() {
  std::lock_guard lock(mutex_);
  listening_ = false;
  emptier_.notify_all();
}

void ServerState::await_nobody(std::chrono::milliseconds wait) {
  std::unique_lock lock(mutex_);
  emptier_.wait_for(lock, wait, [this] { return !listening_ && connections.load(std::memory_order_relaxed) == 0; });
}

}  // namespace slipstream::http
