// Reads what a router says as JSON of its workers (/workers) and of its tuning (/tuning). Pure.
#pragma once

#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "tools/slipstream/top/look.h"

namespace slipstream::command::top {

inline constexpr size_t kWorkersMax = 256;  // that are shown; further ones are left out

// Error: it is no such page. A field that is missing keeps its default.
Result<std::vector<WorkerLook>> read_workers(std::string_view json);
Result<TuningLook> read_tuning(std::string_view json);

}  // namespace slipstream::command::top
