// What a ZMTP 3 connection carries one way, cut where something may be done to it
// (https://rfc.zeromq.org/spec/23): the greeting as it comes, then commands and whole messages,
// with all their frames.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "common/base/limits.h"
#include "common/base/result.h"
#include "common/messages/boundary.h"

namespace slipstream::faults {

inline constexpr size_t kUnitBytesMax = 2 * kControlFrameBytesMax;  // of one message or command; ours have at most about half

struct Unit {
  enum class Kind : uint8_t { greeting, command, message };  // a greeting's units are pieces of it
  Kind kind = Kind::greeting;
  std::vector<std::byte> bytes;      // as on the wire
  std::optional<Boundary> boundary;  // of a message of ours
};

class ZmtpUnits {
 public:
  void add(std::span<const std::byte> bytes) { pending_.insert(pending_.end(), bytes.begin(), bytes.end()); }
  // The next whole one, or nothing yet. Error: this is no ZMTP 3, or a unit over its limit; of no
  // use any more.
  Result<std::optional<Unit>> next();

 private:
  Unit take(Unit::Kind kind, size_t size);

  std::vector<std::byte> pending_;
  size_t greeting_left_ = 64;
};

}  // namespace slipstream::faults
