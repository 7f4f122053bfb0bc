#include "common/zmq/allowed_endpoint.h"

namespace slipstream {

Result<void> check_allowed(std::string_view endpoint, Use use, bool keyed) {
  if (!endpoint.starts_with("tcp://")) return fail("\"{}\" is no endpoint: write tcp://127.0.0.1:PORT", endpoint);
  TRY(const Endpoint parsed, parse_endpoint(endpoint, use));
  if (keyed || parsed.loopback()) return {};
  return fail(
      "{} is beyond this host, and without keys messages travel in clear: make keys with `slipstream keys new` and give each "
      "process --key and --peers, or use tcp://127.0.0.1:PORT",
      endpoint);
}

}  // namespace slipstream
