// The random name of this process's life.
#pragma once

#include <random>

#include "common/base/ids.h"

namespace slipstream {

// In [1, 2^63): the highest bit marks peers that connected to us (actor/actor.h).
inline Incarnation random_incarnation() {
  std::random_device device;
  std::uniform_int_distribution<Incarnation> distribution(1, (Incarnation{1} << 63) - 1);
  return distribution(device);
}

}  // namespace slipstream
