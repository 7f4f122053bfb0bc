#include "common/http/cors.h"

#include "common/http/access.h"

namespace slipstream::http {
namespace {

constexpr const char* kPreflightSeconds = "600";  // how long a browser may remember the answer

}  // namespace

Headers cors_headers(const std::string& origin) {
  return {{"Access-Control-Allow-Origin", origin},
          {"Access-Control-Expose-Headers", std::string(kRequestIdHeader)},
          {"Vary", "Origin"}};
}

Headers preflight_headers(const std::string& asked) {
  Headers headers{{"Access-Control-Allow-Methods", "GET, POST"}, {"Access-Control-Max-Age", kPreflightSeconds}};
  if (!asked.empty()) headers.emplace_back("Access-Control-Allow-Headers", asked);
  return headers;
}

}  // namespace slipstream::http
