#pragma once

namespace slipstream {

// Raises this process's limit of open files to what the system allows, at most kOpenFilesMax: the
// usual 1024 is less than kConnectionsMax and kHttpConnectionsMax together, and libzmq spins when
// it runs out.
void allow_open_files();

}  // namespace slipstream
