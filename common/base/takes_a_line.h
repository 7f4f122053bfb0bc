// Whether a line can be written to a descriptor now. A full pipe whose reader does not read, or a terminal that was stopped
// (Ctrl-S), would stop the thread that writes to it, and with it whatever else that thread is for.
#pragma once

#include <poll.h>

#include <climits>
#include <cstddef>

namespace slipstream {

inline constexpr size_t kLineBytesMax = PIPE_BUF;  // of a pipe that takes anything, there is always room for so much

// False: nobody reads there now. Of what cannot be written at all (a closed descriptor, a reader that has gone) the write
// tells.
inline bool takes_a_line(int descriptor) {
  pollfd wanted{descriptor, POLLOUT, 0};
  return poll(&wanted, 1, 0) != 0;
}

}  // namespace slipstream
