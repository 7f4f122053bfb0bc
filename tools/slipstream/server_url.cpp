#include "tools/slipstream/server_url.h"

#include "common/base/endpoint.h"

namespace slipstream::command {

Result<ServerUrl> ServerUrl::parse(std::string_view text) {
  constexpr std::string_view kScheme = "http://";
  std::string_view rest = text;
  if (rest.starts_with(kScheme)) rest.remove_prefix(kScheme.size());
  if (rest.ends_with('/')) rest.remove_suffix(1);
  const size_t colon = rest.rfind(':');
  const auto endpoint = parse_endpoint(std::string(rest) + (colon == std::string_view::npos ? ":80" : ""), Use::connect);
  if (!endpoint || rest.find('/') != std::string_view::npos)
    return fail("\"{}\" is no server address; write it as http://127.0.0.1:8080", text);
  return ServerUrl{std::string(rest.substr(0, colon)), endpoint->port};  // the host as it was written: "localhost" stays
}

}  // namespace slipstream::command
