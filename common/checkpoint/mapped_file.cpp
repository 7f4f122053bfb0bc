#include "common/checkpoint/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace slipstream {

// The mapping outlives the descriptor, so the file is closed here in every case.
Result<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return fail("cannot open {}: {}", path.string(), std::strerror(errno));
  struct stat status{};
  const bool regular = fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  const auto size = regular ? static_cast<size_t>(status.st_size) : 0;
  void* start = size > 0 ? mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
  const int reason = errno;
  close(file);
  if (!regular) return fail("{} is not a regular file", path.string());
  if (size == 0) return fail("{} is empty: copy or download the file again", path.string());
  if (start == MAP_FAILED) return fail("cannot map {} ({} bytes): {}", path.string(), size, std::strerror(reason));
  return MappedFile({static_cast<const std::byte*>(start), size});
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace slipstream
