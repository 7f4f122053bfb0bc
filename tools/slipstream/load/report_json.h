// The report of `slipstream load` for programs: docs/use/LOAD.md names the fields. Pure.
#pragma once

#include <string>

#include "tools/slipstream/load/report.h"

namespace slipstream::command::load {

std::string json(const LoadReport& report);

}  // namespace slipstream::command::load
