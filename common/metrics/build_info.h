// Adds the metric that says which build of which program runs.
#pragma once

#include <string_view>

#include "common/metrics/exposition.h"

namespace slipstream {

// Adds slipstream_build_info to a page of /metrics: role, version, commit, compiler, build type and
// numerics. role: "router", "verifier" or "drafter". numerics: how the model computes; "" if the
// process has no model.
void add_build_info(std::string_view role, std::string_view numerics, Exposition& page);

}  // namespace slipstream
