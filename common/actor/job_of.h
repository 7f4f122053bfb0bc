// The types of an actor's compute job and of its result, derived from the actor's event variant. A
// driver needs them to store the job that it runs.
#pragma once

#include <variant>

#include "common/actor/actor.h"

namespace slipstream {

// Job and Outcome are the J and R of the event Ran<J, R>, or std::monostate if the actor has no
// such event.
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
