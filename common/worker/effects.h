// The effects of the part that all workers share, and a view of the vector that they go into.
#pragma once

#include <utility>
#include <variant>
#include <vector>

#include "common/actor/actor.h"
#include "common/messages/control.h"

namespace slipstream {

using WorkerEffect = std::variant<Connect, Disconnect, WakeAt, To<Hello>, To<WorkerHeartbeat>, To<Leaving>, Note>;

// Refers to the effects of one event, as std::span refers to an array. It converts from the effects
// of any actor whose variant holds every WorkerEffect, so that calls pass those as they are.
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
