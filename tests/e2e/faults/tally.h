// What the proxy did, by boundary and direction, so that a test can tell that each fault happened.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>

#include "common/base/result.h"
#include "common/messages/boundary.h"

namespace slipstream::faults {

enum class Direction : uint8_t { to_upstream, to_client };

struct Counts {            // of messages
  uint64_t messages = 0;   // that came
  uint64_t lost = 0;       // were never passed on
  uint64_t doubled = 0;    // were passed on twice
  uint64_t spikes = 0;     // began a spike
  uint64_t delayed = 0;    // were held up by one
  uint64_t overtaken = 0;  // passed on after one that came later
  uint64_t gone = 0;       // held when their connection was cut, or when nobody was left to take them

  Counts& operator+=(const Counts& other);
};

struct Tally {
  std::array<std::array<Counts, 2>, 3> of{};  // [Boundary][Direction]
  uint64_t strange = 0;                       // messages that are none of ours: passed on as they are
  uint64_t connections = 0, cuts = 0;
  uint64_t refused = 0;  // connections that are no ZMTP 3, too many, or to an upstream that is not there

  Counts& at(Boundary boundary, Direction direction) {
    return of[static_cast<size_t>(boundary)][static_cast<size_t>(direction)];
  }
  const Counts& at(Boundary boundary, Direction direction) const {
    return of[static_cast<size_t>(boundary)][static_cast<size_t>(direction)];
  }
  Counts sum() const;
  Tally& operator+=(const Tally& other);
};

// As JSON, whole at once: {"control": {"to_upstream": {"messages": 12, ...}, "to_client": ...},
// ..., "connections": 2, ...}
Result<void> write_tally(const std::filesystem::path& file, const Tally& tally);
Result<Tally> read_tally(const std::filesystem::path& file);

}  // namespace slipstream::faults
