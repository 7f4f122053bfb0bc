// Checks of a running server over HTTP.
#pragma once

#include "tools/slipstream/chat_client.h"
#include "tools/slipstream/doctor/finding.h"
#include "tools/slipstream/top/look.h"

namespace slipstream::command::doctor {

// What a look at the server says of it and of its workers. Pure.
void check_server(const top::FleetLook& look, Findings& findings);

}  // namespace slipstream::command::doctor
