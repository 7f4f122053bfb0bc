// One connection to the proxy and its own one to the upstream: what either says reaches the other,
// as luck has it. The end of one ends the other, once that has been told what was said before.
#pragma once

#include <poll.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "tests/e2e/faults/faulty_direction.h"
#include "tests/e2e/faults/tcp.h"

namespace slipstream::faults {

inline constexpr size_t kHeldBytesMax = 8 * 1024 * 1024;  // by one direction; then its sender is read no more

class Relay {
 public:
  // seed: of this connection's dice.
  Relay(Socket client, Socket upstream, const Weather& weather, uint64_t seed, Tally& tally);

  void want(std::vector<pollfd>& items) const;         // appends both sockets, and what each waits for
  void serve(std::span<const pollfd> mine, Time now);  // the two that want() appended, polled
  std::optional<Time> next() const;
  bool over() const { return !sides_[0].socket && !sides_[1].socket; }
  void cut();  // now, amid a message if one is under way

 private:
  struct Side {
    Socket socket;
    ZmtpUnits units;             // as it says them
    FaultyDirection way;         // to the other side
    std::vector<std::byte> out;  // to be sent to it
  };
  void hear(Side& side, Time now);
  void speak(Side& side);
  void end(Side& side);

  std::array<Side, 2> sides_;  // client, upstream
  Tally& tally_;
};

}  // namespace slipstream::faults
