// Headers of an answer, in order.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace slipstream::http {

using Headers = std::vector<std::pair<std::string, std::string>>;

}  // namespace slipstream::http
