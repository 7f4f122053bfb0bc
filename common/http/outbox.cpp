#include "common/http/outbox.h"

#include <utility>

#include <boost/asio/buffer.hpp>

namespace slipstream::http {

using boost::system::error_code;

Outbox::Outbox(Stream& stream, std::chrono::milliseconds stall, std::function<void(End)> on_end)
    : stream_(stream), stall_(stall), on_end_(std::move(on_end)), timer_(stream.get_executor()) {}

void Outbox::put(std::string_view bytes) {
  unsent_.fetch_add(bytes.size(), std::memory_order_relaxed);
  waiting_ += bytes;
}

// One write at a time, from sending_, which must stay as it is until the write has ended; put()
// appends to waiting_ meanwhile.
void Outbox::flush(std::shared_ptr<void> owner) {
  if (writing_ || cancelled_) return;
  if (sent_ == sending_.size()) {
    sending_.clear();
    sent_ = 0;
    sending_.swap(waiting_);
  }
  if (sending_.empty()) return;
  writing_ = true;
  watch_stall(owner);
  const auto rest = boost::asio::buffer(sending_.data() + sent_, sending_.size() - sent_);
  stream_.async_write_some(rest, [this, owner = std::move(owner)](error_code error, size_t bytes) mutable {
    on_written(std::move(owner), error, bytes);
  });
}

void Outbox::on_written(std::shared_ptr<void> owner, error_code error, size_t bytes) {
  writing_ = false;
  if (cancelled_) return;
  if (error) return on_end_(End::failed);
  sent_ += bytes;
  unsent_.fetch_sub(bytes, std::memory_order_relaxed);
  if (sent_ < sending_.size() || !waiting_.empty()) return flush(std::move(owner));
  on_end_(End::empty);
}

// Called before each write, so the deadline is for any progress and not for the whole answer. A
// stream writes for every token, and setting the timer costs more than the rest of a write: so the
// timer is left as it is, and when it rings it is set to the deadline of the newest write.
void Outbox::watch_stall(std::shared_ptr<void> owner) {
  deadline_ = Clock::now() + stall_;
  if (!std::exchange(watching_, true)) await_deadline(std::move(owner));
}

void Outbox::await_deadline(std::shared_ptr<void> owner) {
  timer_.expires_at(deadline_);
  timer_.async_wait([this, owner = std::move(owner)](error_code error) mutable {
    watching_ = !error && !cancelled_ && writing_;
    if (!watching_) return;
    if (Clock::now() < deadline_) return await_deadline(std::move(owner));
    watching_ = false;
    on_end_(End::stalled);
  });
}

void Outbox::shrink() {
  if (!idle()) return;
  waiting_ = {};
  sending_ = {};
  sent_ = 0;
}

void Outbox::cancel() {
  cancelled_ = true;
  timer_.cancel();
}

}  // namespace slipstream::http
