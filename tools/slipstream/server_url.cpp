#include "tools/slipstream/server_url.h"

#include <charconv>

namespace slipstream::command {

Result<ServerUrl> ServerUrl::parse(std::string_view text) {
  constexpr std::string_view kScheme = "http://";
  std::string_view rest = text;
  if (rest.starts_with(kScheme)) rest.remove_prefix(kScheme.size());
  if (rest.ends_with('/')) rest.remove_suffix(1);
  const size_t colon = rest.rfind(':');
  ServerUrl url{std::string(rest.substr(0, colon))};
  bool good = !url.host.empty() && rest.find('/') == std::string_view::npos;
  if (colon != std::string_view::npos) {
    const std::string_view port = rest.substr(colon + 1);
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), url.port);
    good = good && error == std::errc() && end == port.data() + port.size() && url.port != 0;
  }
  if (!good) return fail("\"{}\" is no server address; write it as http://127.0.0.1:8080", text);
  return url;
}

}  // namespace slipstream::command
