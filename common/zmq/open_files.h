// Raises the limit of open files before the sockets need them.
#pragma once

namespace slipstream {

// Raises this process's soft limit of open files to its hard limit, at most kOpenFilesMax. The
// usual 1024 is less than kConnectionsMax and kHttpConnectionsMax together, and libzmq spins when
// it gets no file descriptor. Logs a warning if the limit stays too low. Call it once, at start.
void allow_open_files();

}  // namespace slipstream
