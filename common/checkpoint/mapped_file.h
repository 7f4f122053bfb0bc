// A whole file, read-only, in memory by mmap. Movable; unmapped when it dies.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "common/base/result.h"

namespace slipstream {

class MappedFile {
 public:
  static Result<MappedFile> open(const std::filesystem::path& path);  // an empty file is an error
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  explicit MappedFile(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::span<const std::byte> bytes_;
};

}  // namespace slipstream
