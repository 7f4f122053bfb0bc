#include "common/http/target.h"

#include <algorithm>

#include "common/base/ascii_case.h"

namespace slipstream::http {
namespace {

constexpr std::string_view kSchemes[] = {"http://", "https://"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Of a name: what a URI may have there (RFC 3986, 3.2.2). Escapes are not read.
bool in_name(char c) {
  return is_digit(c) || (small_letter(c) >= 'a' && small_letter(c) <= 'z') ||
         std::string_view("-._~%!$&'()*+,;=").find(c) != std::string_view::npos;
}

// Between brackets: of IPv6, and of what may come after it.
bool in_brackets(char c) { return in_name(c) || c == ':'; }

}  // namespace

std::optional<Target> read_target(std::string_view target) {
  Target read;
  for (const std::string_view scheme : kSchemes) {
    if (!is_but_for_case(target.substr(0, scheme.size()), scheme)) continue;
    target.remove_prefix(scheme.size());
    read.host = target.substr(0, std::min(target.find_first_of("/?#"), target.size()));
    if (!names_host(*read.host)) return std::nullopt;
    target.remove_prefix(read.host->size());
    break;
  }
  const size_t mark = std::min(target.find('?'), target.size());
  read.path = target.substr(0, mark);
  read.query = target.substr(std::min(mark + 1, target.size()));
  if (read.path.empty()) read.path = "/";
  return read;
}

bool names_host(std::string_view value) {
  const bool brackets = value.starts_with('[');
  const size_t end = brackets ? value.find(']') : std::min(value.find(':'), value.size());
  if (end == value.npos) return false;
  const std::string_view name = brackets ? value.substr(1, end - 1) : value.substr(0, end);
  const std::string_view rest = value.substr(end + (brackets ? 1 : 0));
  const bool port = rest.empty() || (rest.front() == ':' && std::ranges::all_of(rest.substr(1), is_digit));
  return !name.empty() && port && std::ranges::all_of(name, brackets ? in_brackets : in_name);
}

}  // namespace slipstream::http
