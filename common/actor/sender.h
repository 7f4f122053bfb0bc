// Which peer an event comes from and on which boundary, so that an actor takes each message from
// its own kind of peer only.
#pragma once

#include <optional>
#include <type_traits>
#include <variant>

#include "common/actor/actor.h"
#include "common/messages/boundary.h"

namespace slipstream {

struct Sender {
  Peer peer;
  Boundary boundary = Boundary::control;
};

// Nullopt: no message, or one of a kind that this release does not know. Peer 0 is the process
// itself.
template <class... Events>
std::optional<Sender> sender_of(const std::variant<Events...>& event) {
  return std::visit(
      []<class E>(const E& e) -> std::optional<Sender> {
        if constexpr (requires { e.message; }) {
          using Message = std::decay_t<decltype(e.message)>;
          if constexpr (!std::is_same_v<Message, Unknown>) return Sender{e.peer, boundary_of<Message>()};
        }
        return std::nullopt;
      },
      event);
}

}  // namespace slipstream
