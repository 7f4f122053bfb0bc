#include "common/http/site.h"

#include <utility>

#include <boost/asio/post.hpp>

namespace slipstream::http {

void Site::run(std::function<void()> task) {
  if (loop.get_executor().running_in_this_thread()) return task();
  run_last(std::move(task));
}

void Site::run_last(std::function<void()> task) {
  const std::lock_guard lock(mutex_);
  if (!stopped_) boost::asio::post(loop, std::move(task));
}

void Site::stop(std::function<void()> last) {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  boost::asio::post(loop, std::move(last));
}

}  // namespace slipstream::http
