#include "services/verifier/send_window.h"

#include <algorithm>

#include "common/base/check.h"

namespace slipstream {

std::optional<int32_t> SendWindow::next(int32_t end) const {
  if (sent_ >= end || in_flight_ == kTokensInFlight) return std::nullopt;
  return sent_;
}

void SendWindow::sent(int32_t to, Time now) {
  CHECK(in_flight_ < kTokensInFlight, "a message beyond the window");
  ends_[static_cast<size_t>(in_flight_++)] = sent_ = to;
  resend_at_ = now + wait_;
}

void SendWindow::ack(int32_t index, Time now) {
  resend_at_ = now + wait_;
  if (index == acked_) return nothing_is_in_flight();
  acked_ = index;
  sent_ = std::max(sent_, index);
  const auto end = ends_.begin() + in_flight_;
  const auto rest = std::find_if(ends_.begin(), end, [index](int32_t message_end) { return message_end > index; });
  in_flight_ = static_cast<int>(std::copy(rest, end, ends_.begin()) - ends_.begin());
  waits_.reset();
  wait_ = kResendInterval;
}

void SendWindow::again() {
  nothing_is_in_flight();
  wait_ = waits_.next();
}

void SendWindow::nothing_is_in_flight() {
  sent_ = acked_;
  in_flight_ = 0;
}

}  // namespace slipstream
