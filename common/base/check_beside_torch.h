// CHECK of common/base/check.h for files that include torch, whose headers define a macro of that
// name for themselves. Include it after them.
#pragma once

#undef CHECK
#include "common/base/check.h"  // IWYU pragma: export
