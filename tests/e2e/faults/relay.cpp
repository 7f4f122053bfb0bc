#include "tests/e2e/faults/relay.h"

#include "common/base/log.h"

namespace slipstream::faults {

Relay::Relay(Socket client, Socket upstream, const Weather& weather, uint64_t seed, Tally& tally)
    : sides_{{{std::move(client), {}, {weather, Direction::to_upstream, sim::RandomSource(seed, "to upstream"), tally}, {}},
              {std::move(upstream), {}, {weather, Direction::to_client, sim::RandomSource(seed, "to client"), tally}, {}}}},
      tally_(tally) {}

void Relay::want(std::vector<pollfd>& items) const {
  for (size_t i = 0; i < sides_.size(); ++i) {
    const Side &side = sides_[i], &other = sides_[1 - i];
    const bool room = side.way.bytes() + other.out.size() < kHeldBytesMax;
    const int events = (other.socket && room ? POLLIN : 0) | (side.out.empty() ? 0 : POLLOUT);
    items.push_back({side.socket.fd(), static_cast<short>(events), 0});  // closed: -1, which poll() skips
  }
}

void Relay::serve(std::span<const pollfd> mine, Time now) {
  for (size_t i = 0; i < sides_.size(); ++i) {
    if ((mine[i].revents & (POLLIN | POLLERR | POLLHUP)) != 0) hear(sides_[i], now);
  }
  for (size_t i = 0; i < sides_.size(); ++i) sides_[i].way.release(now, sides_[1 - i].out);
  for (Side& side : sides_) speak(side);
  for (size_t i = 0; i < sides_.size(); ++i) {
    const Side& gone = sides_[1 - i];
    if (!gone.socket && gone.way.empty() && sides_[i].out.empty()) end(sides_[i]);
  }
}

void Relay::hear(Side& side, Time now) {
  std::vector<std::byte> bytes;
  const bool goes_on = side.socket.receive(bytes);
  side.units.add(bytes);
  while (true) {
    Result<std::optional<Unit>> unit = side.units.next();
    if (!unit) {
      ++tally_.refused;
      log_warning("ended a connection: {}", unit.error().message);
      return end(side);
    }
    if (!*unit) break;
    side.way.take(**std::move(unit), now);
  }
  if (!goes_on) end(side);
}

void Relay::speak(Side& side) {
  if (!side.socket || side.out.empty() || side.socket.send(side.out)) return;
  end(side);
}

// It hears nothing more; what it said still goes its way.
void Relay::end(Side& side) {
  Side& other = &side == &sides_[0] ? sides_[1] : sides_[0];
  side.socket.close();
  side.out.clear();
  other.way.drop();
}

std::optional<Time> Relay::next() const {
  const auto a = sides_[0].way.next(), b = sides_[1].way.next();
  return a && b ? std::min(a, b) : a ? a : b;
}

void Relay::cut() {
  for (size_t i = 0; i < sides_.size(); ++i) {
    sides_[i].way.cut(sides_[1 - i].out);
    speak(sides_[1 - i]);
  }
  for (Side& side : sides_) end(side);
}

}  // namespace slipstream::faults
