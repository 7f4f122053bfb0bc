// The text of a Screen, row by row, for a terminal of a certain size or for a pipe. Pure.
#pragma once

#include <string>
#include <vector>

#include "tools/slipstream/top/screen.h"

namespace slipstream::command::top {

struct Paper {
  int columns = 0, rows = 0;  // 0: as many as it takes
  bool colours = false;
  bool blocks = false;  // bars of block characters; false: of ASCII
};

// At most paper.rows rows of at most paper.columns columns, without line breaks. What a process has
// sent cannot move the cursor: control characters are shown as '?'. Rows that there is no room for
// are left out, and the last one says how many.
std::vector<std::string> render(const Screen& screen, const Paper& paper);

// A bar of `columns` columns that is filled by `share`, 0 .. 1.
std::string bar(double share, int columns, bool blocks);

}  // namespace slipstream::command::top
