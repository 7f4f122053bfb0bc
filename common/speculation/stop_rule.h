// When a drafter stops growing a tree. One rule an instance of plain data; the price behind h is in
// docs/design/SCHEDULER.md.
#pragma once

#include <cstdint>

namespace slipstream {

struct StopRule {
  int nodes_max = 8;       // fixed K: never more nodes than this
  int depth_max = 8;       // never deeper
  float threshold = 1.0F;  // h in [0, 1]: draft while 1 - survival <= h; 1 never stops

  // Confidence rule (SpecDec++, 2405.19715, Section 4: stop when 1 - prod(p_i) > h): whether a node
  // of this survival, at this depth, as the (nodes + 1)-th of its tree, is worth drafting.
  bool admits(float survival, int depth, int nodes) const;
};

}  // namespace slipstream
