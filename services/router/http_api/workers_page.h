// Lists the router's workers as JSON, for GET /workers: who is there, and where its own page is.
#pragma once

#include <string>
#include <string_view>

#include "services/router/counters.h"

namespace slipstream {

// {"workers": [{"role", "incarnation", "pid", "state", "what", "metrics", "sequences", "busy",
//  "drained", "greedy_gain", "coupled_gain"}]}: `incarnation` in hexadecimal, as in the logs;
// `metrics`: the address of the worker's page, for who calls the router `host` (page_for()); the
// gains are null where none is known.
std::string workers_json(const RouterCounters& counters, std::string_view host);

// "ready", "leaving", "silent", "stuck", "resting" or "drained".
std::string_view state_of(const WorkerFacts& worker);
std::string_view role_name(Role role);

}  // namespace slipstream
