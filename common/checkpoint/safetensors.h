// Reads safetensors files by mmap. Nothing in a file is trusted: all lengths, offsets, shapes and
// ranges are checked when it is opened, and products that overflow are errors.
// Format: https://github.com/huggingface/safetensors
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/checkpoint/mapped_file.h"

namespace slipstream {

inline constexpr size_t kSafetensorsHeaderBytesMax = 100'000'000;  // the reference implementation's own limit
inline constexpr size_t kTensorRankMax = 8;
inline constexpr size_t kShardsMax = 256;

// One tensor as the header describes it. Its bytes lie inside the file and overlap no other
// tensor's.
struct TensorEntry {
  std::string dtype;  // "BF16", ...
  std::vector<int64_t> shape;
  std::span<const std::byte> bytes;
};

// One file. Its tensors cover its data without holes or overlaps, as the format demands; a file
// that breaks this is refused. Tensors are valid while the file lives, also after it was moved.
class SafetensorsFile {
 public:
  static Result<SafetensorsFile> open(const std::filesystem::path& path);
  const std::map<std::string, TensorEntry, std::less<>>& tensors() const { return tensors_; }
  // The texts of the header's "__metadata__", by their names; whatever else it holds is left out.
  const std::map<std::string, std::string, std::less<>>& metadata() const { return metadata_; }

 private:
  explicit SafetensorsFile(MappedFile file) : file_(std::move(file)) {}
  MappedFile file_;
  std::map<std::string, TensorEntry, std::less<>> tensors_;
  std::map<std::string, std::string, std::less<>> metadata_;
};

// The weight files of a folder, in the order of their names: model.safetensors, or the shards that
// model.safetensors.index.json lists.
Result<std::vector<std::filesystem::path>> weight_files(const std::filesystem::path& folder);

}  // namespace slipstream
