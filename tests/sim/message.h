// Any message of any boundary, as the simulated links carry it.
#pragma once

#include <string>
#include <variant>

#include "common/messages/boundary.h"

namespace slipstream::sim {

using Message = std::variant<Hello, WorkerHeartbeat, Leaving, Welcome, Refuse, RouterHeartbeat, Drain, Start, Ack, Cancel,
                             Accepted, Refused, Tokens, Assign, Attach, Attached, Advance, Release, Tree, Resync, Unknown>;

Boundary boundary(const Message& message);
std::string describe(const Message& message);  // for a trace: the kind of message and what it refers to
bool routine(const Message& message);          // heartbeats, which a trace omits

}  // namespace slipstream::sim
