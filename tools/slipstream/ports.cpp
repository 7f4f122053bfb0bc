#include "tools/slipstream/ports.h"

#include <simdjson.h>

#include <cstdlib>
#include <system_error>

namespace slipstream::command {
namespace {

std::string text(simdjson::dom::element root, const char* name) {
  std::string_view value;
  return root[name].get(value) == simdjson::SUCCESS ? std::string(value) : "";
}

uint16_t port(const std::string& address) {
  const size_t colon = address.rfind(':');
  return colon == std::string::npos ? uint16_t{0}
                                    : static_cast<uint16_t>(std::strtoul(address.c_str() + colon + 1, nullptr, 10));
}

}  // namespace

std::optional<Ports> read_ports(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return std::nullopt;
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  if (parser.load(file.string()).get(root) != simdjson::SUCCESS) return std::nullopt;
  int64_t pid = -1;
  if (root["pid"].get(pid) != simdjson::SUCCESS) return std::nullopt;
  return Ports{static_cast<pid_t>(pid), port(text(root, "http")), text(root, "bind"), port(text(root, "metrics"))};
}

}  // namespace slipstream::command
