#include "tools/train/head_reading.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "common/checkpoint/safetensors.h"
#include "tools/train/safetensors_writer.h"

namespace slipstream::train {
namespace {

constexpr const char *kVocabulary = "vocabulary", *kScales = "scales";

template <class Number>
StoredTensor stored(const char* name, const char* dtype, const std::vector<Number>& numbers) {
  return {.name = name,
          .dtype = dtype,
          .shape = {static_cast<int64_t>(numbers.size())},
          .bytes = std::as_bytes(std::span(numbers))};
}

// Empty: there is no such tensor.
template <class Number>
std::vector<Number> numbers_of(const SafetensorsFile& file, const char* name, const char* dtype) {
  const auto at = file.tensors().find(name);
  if (at == file.tensors().end() || at->second.dtype != dtype) return {};
  std::vector<Number> numbers(at->second.bytes.size() / sizeof(Number));
  std::memcpy(numbers.data(), at->second.bytes.data(), numbers.size() * sizeof(Number));
  return numbers;
}

}  // namespace

Result<void> write_reading(const std::filesystem::path& path, const HeadReading& reading) {
  const std::vector<StoredTensor> tensors{stored(kVocabulary, "I32", reading.vocabulary),
                                          stored(kScales, "F32", reading.scales)};
  return write_safetensors(path, tensors);
}

Result<HeadReading> read_reading(const std::filesystem::path& path) {
  TRY(const SafetensorsFile file, SafetensorsFile::open(path));
  HeadReading reading{.vocabulary = numbers_of<TokenId>(file, kVocabulary, "I32"),
                      .scales = numbers_of<float>(file, kScales, "F32")};
  if (reading.vocabulary.empty() || reading.scales.empty()) {
    return fail("{} does not say what the head reads: train into another folder", path.string());
  }
  return reading;
}

}  // namespace slipstream::train
