#include "common/keys/key_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zmq.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/base/check.h"
#include "common/base/write_whole.h"

namespace slipstream {
namespace {

constexpr size_t kKeyCharacters = 40;  // of Z85, for 32 bytes
constexpr size_t kNameMax = 64;
constexpr mode_t kForItsOwner = 0600, kForAll = 0644, kOfOthers = 0077, kReadByGroup = 0040;

bool is_key(const std::string& text) {
  unsigned char bytes[32];
  return text.size() == kKeyCharacters && zmq_z85_decode(bytes, text.c_str()) != nullptr;
}

// The rest of the first line that begins with `word` and a space.
std::optional<std::string> find(const std::filesystem::path& file, std::string_view word) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(word) && line.size() > word.size() && line[word.size()] == ' ') return line.substr(word.size() + 1);
  }
  return std::nullopt;
}

Result<std::string> read_half(const std::filesystem::path& file, std::string_view half) {
  const auto key = find(file, half);
  if (key && is_key(*key)) return *key;
  return fail(
      "{} holds no {} key (a line \"{} \" and {} characters): it was cut short or is another file; copy it anew, or make "
      "new keys with `slipstream keys new`",
      file.string(), half, half, kKeyCharacters);
}

std::filesystem::path secret_file(const std::filesystem::path& folder, std::string_view name) {
  return folder / fmt::format("{}.key", name);
}
std::filesystem::path public_file(const std::filesystem::path& folder, std::string_view name) {
  return folder / "peers" / fmt::format("{}.pub", name);
}

std::unexpected<Error> exists_already(const std::filesystem::path& file) {
  return fail("{} exists already, and whoever uses it would be locked out: remove it first, or choose another folder or name",
              file.string());
}

// Renames without replacing an existing file. Some file systems do not support that (EINVAL,
// ENOSYS); there a plain rename has to do, since check_free() has just found that the name is free.
int rename_new(const std::string& from, const std::string& to) {
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  return std::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

// Writes a file that did not exist. The text goes to FILE.new, which is renamed when complete, so
// that no process ever reads half a key.
Result<void> write_new(const std::filesystem::path& file, mode_t mode, const std::string& text) {
  const std::string beside = file.string() + ".new";
  unlink(beside.c_str());  // left by a process that was killed
  // The file is created empty with its mode, so that it is never readable by others while it holds
  // the secret.
  const int fd = open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  int error = fd < 0 ? errno : 0;
  if (fd >= 0) {
    close(fd);
    error = write_whole(beside, 0, text);
    const int taken = error == 0 ? rename_new(beside, file.string()) : 0;
    if (error == 0 && taken == 0) return {};
    unlink(beside.c_str());
    if (taken == EEXIST) return exists_already(file);
    if (error == 0) error = taken;
  }
  return fail("cannot write {}: {}", file.string(), std::strerror(error));
}

}  // namespace

bool is_secret(mode_t mode, uid_t owner, uid_t reader) {
  const mode_t allowed = owner == 0 && reader != 0 ? kReadByGroup : 0;
  return (mode & kOfOthers & ~allowed) == 0;
}

KeyPair make_key_pair() {
  char public_key[kKeyCharacters + 1], secret_key[kKeyCharacters + 1];
  CHECK(zmq_curve_keypair(public_key, secret_key) == 0, "this libzmq was built without CURVE");
  return {public_key, secret_key};
}

Result<void> check_key_name(std::string_view name) {
  const bool known = std::ranges::any_of(kRoles, [&](std::string_view role) { return key_is_of(name, role); });
  const bool plain =
      std::ranges::all_of(name, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
  if (known && plain && name.size() <= kNameMax) return {};
  return fail(
      "\"{}\" is no name for a key: begin it with its role ({}), then perhaps a dash, small letters and digits: drafter-2",
      name, fmt::join(kRoles, ", "));
}

Result<void> check_free(const std::filesystem::path& folder, std::string_view name) {
  TRY_VOID(check_key_name(name));
  for (const auto& file : {secret_file(folder, name), public_file(folder, name)}) {
    std::error_code error;
    if (std::filesystem::exists(file, error)) return exists_already(file);
  }
  return {};
}

Result<void> write_key_files(const std::filesystem::path& folder, std::string_view name, const KeyPair& pair) {
  TRY_VOID(check_free(folder, name));
  std::error_code error;
  std::filesystem::create_directories(folder / "peers", error);
  if (error) return fail("cannot make {}: {}", (folder / "peers").string(), error.message());
  TRY_VOID(write_new(
      secret_file(folder, name), kForItsOwner,
      fmt::format("# Slipstream: the secret key of {}. Whoever reads this can speak in its name.\npublic {}\nsecret {}\n", name,
                  pair.public_key, pair.secret_key)));
  auto written = write_new(public_file(folder, name), kForAll, fmt::format("public {}\n", pair.public_key));
  // A secret key without its public file is of no use, and would make the next attempt fail.
  if (!written) unlink(secret_file(folder, name).c_str());
  return written;
}

void remove_key_files(const std::filesystem::path& folder, std::string_view name) {
  for (const auto& file : {secret_file(folder, name), public_file(folder, name)}) unlink(file.c_str());
}

Result<KeyPair> read_key_file(const std::filesystem::path& file) {
  struct stat status{};
  if (stat(file.c_str(), &status) != 0) {
    return fail("cannot read the key {}: {}; `slipstream keys new` makes one", file.string(), std::strerror(errno));
  }
  if (!is_secret(status.st_mode, status.st_uid, geteuid())) {
    return fail("{} can be read by others (mode {:o}), so it is a secret no more: chmod 600 it, or make a new one",
                file.string(), status.st_mode & 0777u);
  }
  KeyPair pair;
  TRY(pair.public_key, read_half(file, "public"));
  TRY(pair.secret_key, read_half(file, "secret"));
  // The public key follows from the secret one: a file that was put together from two is noticed.
  char public_key[kKeyCharacters + 1];
  if (zmq_curve_public(public_key, pair.secret_key.c_str()) != 0 || pair.public_key != public_key) {
    return fail("the two halves in {} do not belong together: copy the file anew", file.string());
  }
  return pair;
}

Result<std::string> read_public_key(const std::filesystem::path& file) { return read_half(file, "public"); }

}  // namespace slipstream
