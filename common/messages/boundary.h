// The boundary of each message type. A boundary is a pair of roles with a schema of its own.
// Messages of two boundaries travel on the link between a verifier and a router, so each frame
// names its boundary.
#pragma once

#include <variant>

#include "common/messages/control.h"
#include "common/messages/draft.h"
#include "common/messages/generate.h"

namespace slipstream {

// The numbers are on the wire (docs/design/WIRE.md, section 1).
enum class Boundary : uint8_t { control, generate, draft };

// Whether M is one of the alternatives of a std::variant.
template <class M, class Variant>
inline constexpr bool is_one_of = false;
template <class M, class... Ms>
inline constexpr bool is_one_of<M, std::variant<Ms...>> = (std::is_same_v<M, Ms> || ...);

template <class M>
constexpr Boundary boundary_of() {
  static_assert(!std::is_same_v<M, Unknown>, "nobody sends an Unknown");
  if constexpr (is_one_of<M, ControlMessage>)
    return Boundary::control;
  else if constexpr (is_one_of<M, GenerateMessage>)
    return Boundary::generate;
  else {
    static_assert(is_one_of<M, DraftMessage>);
    return Boundary::draft;
  }
}

}  // namespace slipstream
