#include "tools/slipstream/disk_watch.h"

#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace slipstream::command {

std::string DiskWatch::look() {
  std::error_code unknown;
  const auto space = std::filesystem::space(folder_, unknown);
  return unknown ? "" : look(space.available);
}

std::string DiskWatch::look(uintmax_t free_bytes) {
  if (free_bytes == 0 && !std::exchange(full_, true)) {
    return fmt::format(
        "the disk of {} is full: answers go on, but lines of the logs are lost, and a service that dies may not come back; "
        "make "
        "room there",
        folder_.string());
  }
  if (free_bytes < kRoomAgain || !std::exchange(full_, false)) return "";
  return fmt::format("the disk of {} has room again", folder_.string());
}

}  // namespace slipstream::command
