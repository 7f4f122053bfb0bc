#include "common/base/file_stamp.h"

#include <sys/stat.h>

#include <utility>

namespace slipstream {

FileStamp FileStamp::of(const std::filesystem::path& file) {
  struct stat found{};
  if (::stat(file.c_str(), &found) != 0) return {};
  return {.inode = found.st_ino,
          .bytes = found.st_size,
          .changed_ns = found.st_mtim.tv_sec * int64_t{1'000'000'000} + found.st_mtim.tv_nsec,
          .mode = found.st_mode};
}

FileWatch::FileWatch(std::vector<std::filesystem::path> files) : files_(std::move(files)), stamps_(found()) {}

std::vector<FileStamp> FileWatch::found() const {
  std::vector<FileStamp> stamps;
  for (const std::filesystem::path& file : files_) stamps.push_back(FileStamp::of(file));
  return stamps;
}

bool FileWatch::changed(Clock::time_point now) {
  if (looked_at_ && now - *looked_at_ < kBetweenLooks) return false;
  looked_at_ = now;
  std::vector<FileStamp> stamps = found();
  if (stamps == stamps_) return false;
  stamps_ = std::move(stamps);
  return true;
}

}  // namespace slipstream
