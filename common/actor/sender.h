// The sender of a message event and the boundary of the message. Actors use it to refuse messages
// from the wrong kind of peer.
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

// Returns nullopt if the event is no message, or is a message that this release does not know. The
// peer is 0 if this process's own driver made the event.
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
