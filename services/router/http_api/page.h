// The page at /: it shows people the state of this router in plain text.
#pragma once

#include <string>
#include <string_view>

#include "services/router/counters.h"

namespace slipstream {

// Where a client finds this router: at the address it listens at, or, if that stands for all
// addresses of this machine, at the one that the client has called. url: "http://0.0.0.0:8080";
// host: of the request's header.
std::string url_for(std::string_view url, std::string_view host);

// The same for the page of a worker that listens at every address of the router's machine:
// "http://0.0.0.0:9100/metrics".
std::string page_for(std::string_view page, std::string_view host);

// self: this process, as its log names it. url: of the HTTP API.
std::string state_page(std::string_view self, std::string_view model, std::string_view url, const RouterCounters& counters);

}  // namespace slipstream
