// Which web pages may call a server from their scripts (CORS, the Fetch standard, 3.2). A browser
// asks before it sends a page's request to another origin, and shows the page the answer only if
// that has the page's origin in a header.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "common/http/headers.h"

namespace slipstream::http {

struct Cors {
  std::vector<std::string> origins;  // such as "https://chat.example"; "*": any page; empty: none

  bool allows(std::string_view origin) const {
    return !origin.empty() && std::ranges::any_of(origins, [&](const std::string& one) { return one == "*" || one == origin; });
  }
};

// The headers of an answer to a page of this origin.
Headers cors_headers(const std::string& origin);
// Those of the answer to a browser that asks first. asked: the headers that the page wants to send.
Headers preflight_headers(const std::string& asked);

}  // namespace slipstream::http
