#include "tools/train/safetensors_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <nlohmann/json.hpp>

#include "tools/train/sync_path.h"

namespace slipstream::train {
namespace {

constexpr size_t kAlignment = 8;  // where data begins, as other writers do it

std::string header_of(std::span<const StoredTensor> tensors, const std::map<std::string, std::string>& metadata) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  size_t at = 0;
  for (const StoredTensor& tensor : tensors) {
    header[tensor.name] = {{"dtype", tensor.dtype}, {"shape", tensor.shape}, {"data_offsets", {at, at + tensor.bytes.size()}}};
    at += tensor.bytes.size();
  }
  std::string text = header.dump();
  text.resize((text.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  const uint64_t length = text.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof(length)) + text;
}

// Returns 0 or an errno.
int write_all(int file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0) return errno;
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return 0;
}

int write_synced(const std::string& path, std::span<const StoredTensor> tensors, const std::string& header) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return errno;
  int error = write_all(file, std::as_bytes(std::span(header)));
  for (const StoredTensor& tensor : tensors) {
    if (error == 0) error = write_all(file, tensor.bytes);
  }
  if (error == 0 && ::fsync(file) != 0) error = errno;
  if (::close(file) != 0 && error == 0) error = errno;
  return error;
}

}  // namespace

Result<void> write_safetensors(const std::filesystem::path& path, std::span<const StoredTensor> tensors,
                               const std::map<std::string, std::string>& metadata) {
  const std::string beside = path.string() + ".new";
  int error = write_synced(beside, tensors, header_of(tensors, metadata));
  if (error == 0 && std::rename(beside.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0)
    error = sync_path(path.has_parent_path() ? path.parent_path() : ".");  // a rename lasts once its folder is synced
  if (error == 0) return {};
  ::unlink(beside.c_str());
  size_t bytes = 0;
  for (const StoredTensor& tensor : tensors) bytes += tensor.bytes.size();
  return fail("cannot write {}, which takes {} MB: {}", path.string(), bytes / 1'000'000 + 1, std::strerror(error));
}

}  // namespace slipstream::train
