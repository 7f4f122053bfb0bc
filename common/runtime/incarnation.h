// Makes the random number that names one run of a process. A process that restarts gets another
// one, so its peers can tell the new run from the old one.
#pragma once

#include <random>

#include "common/base/ids.h"

namespace slipstream {

// The result is in [1, 2^63): 0 means "none", and actor/actor.h uses the highest bit to mark peers
// that connected to us.
inline Incarnation random_incarnation() {
  std::random_device device;
  std::uniform_int_distribution<Incarnation> distribution(1, (Incarnation{1} << 63) - 1);
  return distribution(device);
}

}  // namespace slipstream
