// The effects that common/worker produces, and a type-erased reference to the vector that they are
// appended to.
//
// The verifier and the drafter have effect variants of their own. The erased reference lets Worker
// and Membership be compiled once, instead of being templates over that variant.
#pragma once

#include <utility>
#include <variant>
#include <vector>

#include "common/actor/actor.h"
#include "common/messages/control.h"

namespace slipstream {

using WorkerEffect = std::variant<Connect, Disconnect, WakeAt, To<Hello>, To<WorkerHeartbeat>, To<Leaving>, Note>;

// Refers to an actor's vector of effects. It converts implicitly from the vector of any actor whose
// effect variant contains every alternative of WorkerEffect. The vector must outlive it.
class WorkerEffects {
 public:
  template <class... E>
  WorkerEffects(std::vector<std::variant<E...>>& effects) : effects_(&effects), add_(&add_to<std::variant<E...>>) {}

  void add(WorkerEffect effect) const { add_(effects_, std::move(effect)); }

 private:
  template <class Effect>
  static void add_to(void* effects, WorkerEffect&& effect) {
    const auto add = [&]<class E>(E&& one) { static_cast<std::vector<Effect>*>(effects)->emplace_back(std::forward<E>(one)); };
    std::visit(add, std::move(effect));
  }

  void* effects_;
  void (*add_)(void*, WorkerEffect&&);
};

}  // namespace slipstream
