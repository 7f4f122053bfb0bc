#include "services/router/allowed_hosts.h"

#include <arpa/inet.h>

#include <algorithm>

#include "common/base/ascii_case.h"

namespace slipstream {
namespace {

constexpr std::string_view kEvery = "*", kLocal = "localhost";

// In small letters, without the port, and without the dot that ends a full name in DNS.
std::string name_in(std::string_view host) {
  if (!host.starts_with('[')) host = host.substr(0, host.find(':'));
  if (host.ends_with('.')) host.remove_suffix(1);
  std::string name(host);
  std::ranges::transform(name, name.begin(), small_letter);
  return name;
}

// "[::1]:8080" has its address between brackets.
bool is_address(const std::string& name) {
  in_addr four;
  in6_addr six;
  if (!name.starts_with('[')) return inet_pton(AF_INET, name.c_str(), &four) == 1;
  const size_t end = name.find(']');
  return end != std::string::npos && inet_pton(AF_INET6, name.substr(1, end - 1).c_str(), &six) == 1;
}

}  // namespace

AllowedHosts::AllowedHosts(const std::vector<std::string>& names) : all_(std::ranges::find(names, kEvery) != names.end()) {
  for (const std::string& name : names) names_.push_back(name_in(name));
}

bool AllowedHosts::allow(std::string_view host) const {
  if (all_ || host.empty()) return true;
  const std::string name = name_in(host);
  if (name == kLocal || name.ends_with(".localhost") || is_address(name)) return true;
  return std::ranges::find(names_, name) != names_.end();
}

bool is_host_name(std::string_view name) {
  return name == kEvery || (!name.empty() && name.find_first_of(":/ *") == std::string_view::npos);
}

}  // namespace slipstream
