// Reads GGUF files (versions 2 and 3, little-endian) by mmap. Nothing in a file is trusted: all
// counts, lengths, types and offsets are checked when it is opened, and products that overflow are
// errors. Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/checkpoint/gguf/fields.h"
#include "common/checkpoint/host_matrix.h"
#include "common/checkpoint/mapped_file.h"

namespace slipstream {

inline constexpr uint64_t kGgufTensorsMax = 1 << 16;
inline constexpr uint64_t kGgufNameBytesMax = 64;  // of a tensor's name; the format's own limit
inline constexpr uint32_t kGgufRankMax = 4;
inline constexpr int64_t kGgufAlignmentDefault = 32, kGgufAlignmentMax = 1 << 20;  // bytes

// Whether the path of a model is a file (so GGUF) and not a Hugging Face folder.
bool is_model_file(const std::filesystem::path& model);

// Its bytes are whole blocks, lie inside the file, and overlap no other tensor's.
struct GgufTensor {
  Dtype dtype = Dtype::f32;
  std::vector<int64_t> shape;  // outermost first, as in Hugging Face's files; the reverse of GGUF's order
  std::span<const std::byte> bytes;
};

class GgufFile {
 public:
  static Result<GgufFile> open(const std::filesystem::path& path);

  const GgufFields& fields() const { return fields_; }
  const std::map<std::string_view, GgufTensor>& tensors() const { return tensors_; }
  bool has(std::string_view tensor) const { return tensors_.contains(tensor); }
  const std::string& what() const { return fields_.what(); }  // the path, for errors

 private:
  explicit GgufFile(MappedFile file) : file_(std::move(file)) {}
  Result<void> read();

  MappedFile file_;
  GgufFields fields_;
  std::map<std::string_view, GgufTensor> tensors_;
};

}  // namespace slipstream
