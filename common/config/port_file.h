// Tells a launcher or a test which ports a process really bound, once it is ready: {"http":
// "127.0.0.1:8080", ...}. The file appears whole (written beside, then renamed), so its existence
// is the signal.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "common/base/result.h"

namespace slipstream {

using BoundAddresses = std::initializer_list<std::pair<std::string_view, std::string_view>>;  // name, address

// Also tells the process id as "pid". path empty: nothing to do. Error: why; nothing is left beside
// it.
Result<void> write_port_file(const std::string& path, BoundAddresses bound);

}  // namespace slipstream
