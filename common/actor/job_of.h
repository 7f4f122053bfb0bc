// The compute job of an actor, by its event variant: what a driver needs to store the job that it
// runs.
#pragma once

#include <variant>

#include "common/actor/actor.h"

namespace slipstream {

// `Job` and `Outcome` are J and R of the event Ran<J, R>. An actor without jobs has std::monostate
// for both.
template <class Event>
struct JobOf {
  using Job = std::monostate;
  using Outcome = std::monostate;
};
template <class J, class R, class... Es>
struct JobOf<std::variant<Ran<J, R>, Es...>> {
  using Job = J;
  using Outcome = R;
};
template <class E, class... Es>
struct JobOf<std::variant<E, Es...>> : JobOf<std::variant<Es...>> {};

}  // namespace slipstream
