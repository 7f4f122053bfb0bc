// slipstream demo: starts the three processes, asks two questions with and without drafts, kills the drafter in the middle of
// an answer, and compares the words.
#pragma once

#include <string>

#include "common/base/result.h"
#include "tools/slipstream/fleet.h"

namespace slipstream::command {

struct DemoOptions {
  FleetOptions fleet;
  std::string ask;     // the user's own question; empty: two of ours
  bool plain = false;  // no colours
};

// false: the words differed between a run with drafts and the plain one.
Result<bool> demo(DemoOptions options, StopSignal& stop);

}  // namespace slipstream::command
