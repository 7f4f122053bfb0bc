#include "common/config/model_name.h"

#include <filesystem>

namespace slipstream {

std::string model_name(const std::string& path) {
  const std::filesystem::path plain = std::filesystem::path(path).lexically_normal();
  // A path that ends in a slash has no file name: its last part is its parent's.
  const std::filesystem::path name = plain.has_filename() ? plain.filename() : plain.parent_path().filename();
  return (name.extension() == ".gguf" ? name.stem() : name).string();
}

}  // namespace slipstream
