#include "tests/e2e/scripted/hostile_port.h"

#include <vector>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/wire/codec.h"
#include "common/zmq/envelope.h"

namespace slipstream {
namespace {

constexpr size_t kFrameBytes = 60'000;
constexpr std::chrono::milliseconds kLook{50};

std::string text(std::span<const std::byte> bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

}  // namespace

HostilePort::HostilePort(std::optional<Attached> attached) {
  if (attached) {
    first_ = zmtp_frame(text(pack({Boundary::draft, attached->drafter})), true) +
             zmtp_frame(text(wire::encode(DraftMessage(*attached))), false);
  } else {
    then_ = endless_part(kFrameBytes);
  }
  thread_ = std::jthread([this](const std::stop_token& stop) { serve(stop); });
}

std::string HostilePort::endpoint() const { return fmt::format("tcp://127.0.0.1:{}", listener_.port()); }

void HostilePort::serve(const std::stop_token& stop) const {
  std::vector<ZmtpPeer> victims;  // connections that stay open, unread
  for (int count = 0; !stop.stop_requested();) {
    std::optional<ZmtpPeer> victim = listener_.accept_within(kLook);
    if (!victim || !victim->send(first_)) continue;
    while (!then_.empty() && !stop.stop_requested() && victim->send(then_)) {
    }
    log_info("{} victims so far", ++count);
    if (then_.empty()) victims.push_back(*std::move(victim));
  }
}

}  // namespace slipstream
