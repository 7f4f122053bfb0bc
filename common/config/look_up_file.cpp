#include "common/config/look_up_file.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include <fmt/format.h>

namespace slipstream {
namespace {

constexpr std::string_view kInUse = "stop that one, or give each process a file of its own";

Result<void> check_file(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::path file = path, folder = file.has_parent_path() ? file.parent_path() : ".";
  if (!std::filesystem::is_directory(folder, ignored) || access(folder.c_str(), W_OK | X_OK) != 0) {
    return fail("--look-up-file {}: {} is no folder that this process may write to: make it, or {}", path, folder.string(),
                kLookUpFileRemedy);
  }
  if (!std::filesystem::exists(file, ignored)) return {};
  if (access(path.c_str(), R_OK) != 0) {
    return fail("--look-up-file {}: it cannot be read ({}), and is left as it is: {}", path, std::strerror(errno),
                kLookUpFileRemedy);
  }
  std::string magic(kLookUpFileMagic.size(), '\0');
  std::ifstream stream(file, std::ios::binary);
  stream.read(magic.data(), static_cast<std::streamsize>(magic.size()));
  magic.resize(static_cast<size_t>(std::max<std::streamsize>(0, stream.gcount())));
  if (std::filesystem::is_regular_file(file, ignored) && kLookUpFileMagic.starts_with(magic)) return {};
  return fail("--look-up-file {}: it is no {}, and is left as it is: {}", path, kLookUpFileWords, kLookUpFileRemedy);
}

}  // namespace

Result<void> check_look_up_file(const std::string& path) {
  TRY_VOID(check_file(path));
  if (!FileLock::is_held(path)) return {};
  return fail("--look-up-file {}: a process that runs uses it: {}", path, kInUse);
}

Result<FileLock> take_look_up_file(const std::string& path) {
  TRY_VOID(check_file(path));
  auto lock = FileLock::take(path);
  if (lock) return lock;
  Error error{fmt::format("--look-up-file {}: {}: {}", path, lock.error().message, kInUse), lock.error().passing};
  return std::unexpected(std::move(error));
}

}  // namespace slipstream
