// What the first line of a request and its Host header say is asked for. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace slipstream::http {

struct Target {
  std::string path;   // "/v1/models", "*"
  std::string query;  // behind the first '?'
  // Of the absolute form, which proxies get and which every server must take: it counts, whatever
  // the Host header says (RFC 9112, 3.2.2). nullopt: the other forms.
  std::optional<std::string> host;
};

// Reads "/v1/models?a=b", or the same behind "http://HOST" or "https://HOST". A target of another
// form is its own path. nullopt: a URL without a host, or with a user in it (RFC 9110, 4.2).
std::optional<Target> read_target(std::string_view target);

// Whether a Host header of this value names a host, with or without a port (RFC 9110, 7.2).
bool names_host(std::string_view value);

}  // namespace slipstream::http
