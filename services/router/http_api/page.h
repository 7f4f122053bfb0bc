// The page at /: it shows people the state of this router in plain text.
#pragma once

#include <string>
#include <string_view>

#include "services/router/counters.h"

namespace slipstream {

// self: this process, as its log names it. url: of the HTTP API.
std::string state_page(std::string_view self, std::string_view model, std::string_view url, const RouterCounters& counters);

}  // namespace slipstream
