#pragma once

#include <string_view>

#include "common/metrics/exposition.h"

namespace slipstream {

// Which role, version and commit runs, on which numerics ("" where there is no model), added to one
// page of /metrics.
void add_build_info(std::string_view role, std::string_view numerics, Exposition& page);

}  // namespace slipstream
