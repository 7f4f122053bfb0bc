// Notices that the disk of a folder has filled up, when it does and not when somebody dies of it, and that there is room again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace slipstream::command {

inline constexpr uintmax_t kRoomAgain = 64 * 1024;  // bytes; less does not last, and would be said again and again

class DiskWatch {
 public:
  explicit DiskWatch(std::filesystem::path folder) : folder_(std::move(folder)) {}
  std::string look();                      // what there is to say, once for each change; "": nothing
  std::string look(uintmax_t free_bytes);  // that there are now

 private:
  const std::filesystem::path folder_;
  bool full_ = false;
};

}  // namespace slipstream::command
