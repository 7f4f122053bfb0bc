// By which names clients may call the router: what a request's Host header says. A page whose name
// somebody makes lead to this machine (DNS rebinding) is of the router's own origin for the browser
// that shows it, so it could use the API of who looks at it. But its browser sends that name.
//
// An address leads where it says, and only a browser is led by a name, so these are always allowed:
// localhost and all below it, IP addresses, and a request that names no host.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slipstream {

class AllowedHosts {
 public:
  // Allows every name.
  AllowedHosts() = default;
  // Allows these names, too, without a port; "*": every name.
  explicit AllowedHosts(const std::vector<std::string>& names);

  // host: of the header, with a port or without.
  bool allow(std::string_view host) const;

 private:
  bool all_ = true;
  std::vector<std::string> names_;  // in lower case
};

// A name of --allowed-host is "*", or a name without a scheme, a port or a path.
bool is_host_name(std::string_view name);

}  // namespace slipstream
