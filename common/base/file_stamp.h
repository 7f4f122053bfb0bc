// Tells one state of a file from another, so that a file that was changed is read again.
//
//   FileStamp known = FileStamp::of(file);  // before the file is read
//   if (FileStamp::of(file) != known) ...   // read it again
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>

namespace slipstream {

struct FileStamp {
  ino_t inode = 0;
  off_t bytes = 0;
  int64_t changed_ns = 0;
  mode_t mode = 0;
  // Of the file that a link leads to. All zero, and errno says why, if there is none.
  static FileStamp of(const std::filesystem::path& file);
  bool operator==(const FileStamp&) const = default;
};

}  // namespace slipstream
