// Maps a whole file into memory, read-only. Movable: bytes() stay where they are. The destructor
// unmaps it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "common/base/result.h"

namespace slipstream {

class MappedFile {
 public:
  // Errors: not a regular file, empty, or not readable.
  static Result<MappedFile> open(const std::filesystem::path& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  explicit MappedFile(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::span<const std::byte> bytes_;
};

}  // namespace slipstream
