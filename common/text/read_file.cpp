#include "common/text/read_file.h"

#include <fstream>
#include <iterator>

namespace slipstream {

Result<std::string> read_file(const std::filesystem::path& path) {
  std::error_code failed;
  const bool regular = std::filesystem::is_regular_file(path, failed);
  if (!regular) return fail("{} is not a file: is the model's folder complete?", path.string());
  const auto size = std::filesystem::file_size(path, failed);
  if (failed) return fail("{} cannot be read: {}", path.string(), failed.message());
  if (size > kModelTextBytesMax) {
    return fail("{} has {} bytes, the limit is {}: is it the right file?", path.string(), size, kModelTextBytesMax);
  }
  std::string text(size, '\0');
  std::ifstream file(path, std::ios::binary);
  if (!file.read(text.data(), static_cast<std::streamsize>(size))) {
    return fail("{} cannot be read: check its permissions", path.string());
  }
  return text;
}

}  // namespace slipstream
