#include "common/zmq/connection_watch.h"

#include <algorithm>

#include "common/base/limits.h"

namespace slipstream {
namespace {

// libzmq reads its connections in turns, but one that became readable just now may be read out of
// turn. So a round waits for more messages than there are connections.
constexpr size_t kTurnsSlack = 64;

}  // namespace

void ConnectionWatch::opened(int fd, uint64_t cookie) { connections_[fd] = {.cookie = cookie, .order = orders_++}; }

void ConnectionWatch::delivered(int fd, size_t wire_bytes) {
  ++turns_;
  if (const auto at = connections_.find(fd); at != connections_.end()) at->second.delivered += wire_bytes;
}

void ConnectionWatch::heard(int fd) {
  if (const auto at = connections_.find(fd); at != connections_.end()) at->second.heard = true;
}

void ConnectionWatch::read(Time now, const Taken& taken) {
  // If this process itself was stopped or busy, the peers must not be blamed for that time.
  const Time passed = std::min(now - read_at_, 2 * kPeriod);
  for (auto& [fd, connection] : connections_) {
    connection.taken = taken(fd).value_or(connection.taken);  // gone: its end is still to be reported
    connection.delivered_then = connection.delivered;
    connection.speechless += passed;
  }
  read_at_ = now;
  reading_ = true;
  emptied_ = false;
  turns_ = 0;
}

std::vector<Cut> ConnectionWatch::check() {
  std::vector<Cut> cuts;
  if (!reading_ || (!emptied_ && turns_ < 2 * connections_.size() + kTurnsSlack)) return cuts;
  reading_ = false;
  check_held(cuts);
  if (side_ == Side::bound) check_numbers(cuts);
  return cuts;
}

// Two checks: first each connection against its own limit, then all together against the total.
//
// `taken` is from the beginning of the round, `delivered` from its end. A message that is taken and
// delivered within the round is therefore in `delivered` only. That makes `held` too small in this
// round, which does no harm. At a settled point the base must not leave it out: the bytes that were
// delivered since the last base were taken, too, whatever the kernel's counter said before.
void ConnectionWatch::check_held(std::vector<Cut>& cuts) {
  int64_t total = 0;
  std::vector<std::pair<int64_t, Entry*>> holders;
  for (Entry& entry : connections_) {
    Connection& connection = entry.second;
    const bool settled = emptied_ || connection.delivered == connection.delivered_then;
    // Every whole message has been delivered. From here on, count the one that has not ended.
    if (settled && connection.delivered != connection.base_delivered) {
      const uint64_t delivered = connection.delivered - connection.base_delivered;
      connection.base_taken = std::max(connection.taken, connection.base_taken + delivered);
      connection.base_delivered = connection.delivered;
      continue;
    }
    const auto taken = static_cast<int64_t>(connection.taken - connection.base_taken);
    const int64_t held = taken - static_cast<int64_t>(connection.delivered - connection.base_delivered);
    if (connection.cut || held <= 0) continue;
    if (held > (settled ? kUnfinishedBytesMax : kHeldBytesMax)) {
      cuts.push_back(cut(entry, CutReason::held));
    } else {
      total += held;
      holders.emplace_back(held, &entry);
    }
  }
  if (total <= kHeldBytesTotalMax) return;
  std::ranges::sort(holders, std::greater{}, [](const auto& holder) { return holder.first; });
  for (const auto& [bytes, entry] : holders) {
    cuts.push_back(cut(*entry, CutReason::held));
    total -= bytes;
    if (total <= kHeldBytesTotalMax) return;
  }
}

// Above kConnectionsMax, the connections to cut are chosen in this order: those that have sent no
// message, the oldest first, because an honest peer sends one at once; then the newest, because the
// older ones have work in progress.
void ConnectionWatch::check_numbers(std::vector<Cut>& cuts) {
  std::vector<Entry*> open;
  for (Entry& entry : connections_) {
    Connection& connection = entry.second;
    if (connection.cut) continue;
    if (!connection.heard && connection.speechless >= std::chrono::milliseconds(kSpeechlessMs)) {
      cuts.push_back(cut(entry, CutReason::speechless));
    } else {
      open.push_back(&entry);
    }
  }
  if (open.size() <= static_cast<size_t>(kConnectionsMax)) return;
  std::ranges::sort(open, [](const Entry* a, const Entry* b) {
    const Connection &x = a->second, &y = b->second;
    if (x.heard != y.heard) return y.heard;
    return x.heard ? x.order > y.order : x.order < y.order;
  });
  open.resize(open.size() - static_cast<size_t>(kConnectionsMax));
  for (Entry* entry : open) cuts.push_back(cut(*entry, CutReason::too_many));
}

std::optional<Cut> ConnectionWatch::cut(int fd, CutReason why) {
  const auto at = connections_.find(fd);
  if (at == connections_.end() || at->second.cut) return std::nullopt;
  return cut(*at, why);
}

Cut ConnectionWatch::cut(Entry& entry, CutReason why) {
  entry.second.cut = true;
  return {entry.first, entry.second.cookie, why};
}

}  // namespace slipstream
