#include "common/zmq/open_files.h"

#include <sys/resource.h>

#include <algorithm>

#include "common/base/limits.h"
#include "common/base/log.h"

namespace slipstream {
namespace {

// All connections of both kinds, and some files for everything else. With fewer open files the
// process fails before it reaches the limits of connections that it documents.
constexpr rlim_t kOpenFilesWanted = kConnectionsMax + kHttpConnectionsMax + 256;

}  // namespace

void allow_open_files() {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  const rlim_t allowed = std::min<rlim_t>(files.rlim_max, kOpenFilesMax);
  if (files.rlim_cur < allowed) {
    files.rlim_cur = allowed;
    setrlimit(RLIMIT_NOFILE, &files);
  }
  if (files.rlim_cur < kOpenFilesWanted) {
    log_warning("only {} open files are allowed, {} are wanted for all connections: raise the hard limit (ulimit -Hn)",
                files.rlim_cur, kOpenFilesWanted);
  }
}

}  // namespace slipstream
