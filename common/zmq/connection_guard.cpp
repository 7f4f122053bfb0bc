#include "common/zmq/connection_guard.h"

#include <string_view>

#include "common/base/log.h"
#include "common/zmq/kernel_connection.h"

namespace slipstream {
namespace {

using Clock = std::chrono::steady_clock;

std::string words(CutReason why) {
  switch (why) {
    case CutReason::held:
      return fmt::format(
          "it sent more than can be read, or a message without an end; the limits are {} bytes waiting and {} unfinished",
          kHeldBytesMax, kUnfinishedBytesMax);
    case CutReason::speechless:
      return fmt::format("it said nothing for {} ms", kSpeechlessMs);
    case CutReason::too_many:
      return fmt::format("more than {} connections; look for who opens them", kConnectionsMax);
    case CutReason::frames:
      return fmt::format("a message of more than {} frames", kFramesPerMessageMax);
    case CutReason::revoked:
      return "its key is not enrolled any more";
  }
  return {};
}

uint64_t& count_of(CutReason why, TransportCounters& counters) {
  switch (why) {
    case CutReason::held:
      return counters.cut_held;
    case CutReason::speechless:
      return counters.cut_speechless;
    case CutReason::too_many:
      return counters.cut_too_many;
    case CutReason::frames:
      return counters.cut_frames;
    case CutReason::revoked:
      break;
  }
  return counters.cut_revoked;
}

}  // namespace

void ConnectionGuard::opened(int fd) { watch_.opened(fd, connection_cookie(fd)); }

void ConnectionGuard::before_reading() {
  const auto now = std::chrono::duration_cast<ConnectionWatch::Time>(Clock::now().time_since_epoch());
  if (watch_.due(now)) watch_.read(now, bytes_taken);
}

std::vector<int> ConnectionGuard::after_reading() {
  std::vector<int> held;
  for (const Cut& cut : watch_.check()) {
    carry_out(cut);
    if (cut.why == CutReason::held) held.push_back(cut.fd);
  }
  return held;
}

void ConnectionGuard::cut(int fd, CutReason why) {
  if (const auto cut = watch_.cut(fd, why)) carry_out(*cut);
}

// Only connections that were really cut are counted and logged.
void ConnectionGuard::carry_out(const Cut& cut) {
  const auto address = cut_connection(cut.fd, cut.cookie);
  if (!address) return;  // the connection ended by itself
  ++count_of(cut.why, *counters_);
  if (gate_.open()) log_warning("cut the connection with {}: {}{}", *address, words(cut.why), gate_.unsaid());
}

}  // namespace slipstream
