#include "common/base/file_stamp.h"

#include <sys/stat.h>

namespace slipstream {

FileStamp FileStamp::of(const std::filesystem::path& file) {
  struct stat found{};
  if (::stat(file.c_str(), &found) != 0) return {};
  return {.inode = found.st_ino,
          .bytes = found.st_size,
          .changed_ns = found.st_mtim.tv_sec * int64_t{1'000'000'000} + found.st_mtim.tv_nsec,
          .mode = found.st_mode};
}

}  // namespace slipstream
