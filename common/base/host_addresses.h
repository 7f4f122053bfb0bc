// The addresses that a host's name stands for.
#pragma once

#include <string>
#include <vector>

#include "common/base/result.h"

namespace slipstream {

// As texts without brackets, sorted, each once. It asks the system (getaddrinfo), which may block
// for as long as its resolver tries.
Result<std::vector<std::string>> addresses_of(const std::string& host);

}  // namespace slipstream
