// Tells one state of a file from another, so that a file that was changed is read again.
//
//   FileWatch watch({"cert.pem", "key.pem"});  // before they are read
//   if (watch.changed(now)) ...                // read them again
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

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

class FileWatch {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kBetweenLooks{1};  // more frequent calls of changed() do not look

  FileWatch() = default;  // of no file: nothing changes
  // To be made before the files are read, so that a change in between is noticed later.
  explicit FileWatch(std::vector<std::filesystem::path> files);

  // The files are others than when this was made, or when it last said so. Each change is told
  // once, also one that is of no use: a file that stays bad is read once.
  bool changed(Clock::time_point now);
  const std::vector<FileStamp>& stamps() const { return stamps_; }  // as they are known

 private:
  std::vector<FileStamp> found() const;

  std::vector<std::filesystem::path> files_;
  std::vector<FileStamp> stamps_;
  std::optional<Clock::time_point> looked_at_;
};

}  // namespace slipstream
