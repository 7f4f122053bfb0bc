// Writes GGUF files byte by byte, so that a test can make correct and corrupt ones.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "common/checkpoint/gguf/fields.h"

namespace slipstream {

class GgufWriter {
 public:
  template <class T>
  static std::string raw(T value) {
    return std::string(reinterpret_cast<const char*>(&value), sizeof value);
  }
  static std::string raw_text(std::string_view text) { return raw(uint64_t{text.size()}) + std::string(text); }

  // Adds a field from the bytes of its value; the functions below do so for the usual kinds.
  GgufWriter& value(std::string_view key, GgufKind kind, const std::string& bytes) {
    fields_ += raw_text(key) + raw(static_cast<uint32_t>(kind)) + bytes;
    ++field_count_;
    return *this;
  }
  GgufWriter& u32(std::string_view key, uint32_t number) { return value(key, GgufKind::u32, raw(number)); }
  GgufWriter& f32(std::string_view key, float number) { return value(key, GgufKind::f32, raw(number)); }
  GgufWriter& flag(std::string_view key, bool on) { return value(key, GgufKind::boolean, raw(on)); }
  GgufWriter& text(std::string_view key, std::string_view words) { return value(key, GgufKind::text, raw_text(words)); }
  GgufWriter& list(std::string_view key, GgufKind kind, uint64_t count, const std::string& bytes) {
    return value(key, GgufKind::list, raw(static_cast<uint32_t>(kind)) + raw(count) + bytes);
  }
  GgufWriter& texts(std::string_view key, const std::vector<std::string>& list_of) {
    std::string bytes;
    for (const std::string& each : list_of) bytes += raw_text(each);
    return list(key, GgufKind::text, list_of.size(), bytes);
  }
  GgufWriter& i32s(std::string_view key, const std::vector<int32_t>& list_of) {
    std::string bytes;
    for (const int32_t each : list_of) bytes += raw(each);
    return list(key, GgufKind::i32, list_of.size(), bytes);
  }

  GgufWriter& f32s(std::string_view key, const std::vector<float>& list_of) {
    std::string bytes;
    for (const float each : list_of) bytes += raw(each);
    return list(key, GgufKind::f32, list_of.size(), bytes);
  }

  // shape: outermost dimension first. type: ggml's number of the format.
  GgufWriter& tensor(std::string_view name, uint32_t type, const std::vector<uint64_t>& shape, const std::string& bytes) {
    return tensor_at(data_.size(), name, type, shape, bytes);
  }
  GgufWriter& tensor_at(uint64_t offset, std::string_view name, uint32_t type, const std::vector<uint64_t>& shape,
                        const std::string& bytes) {
    tensors_ += raw_text(name) + raw(static_cast<uint32_t>(shape.size()));
    for (auto size = shape.rbegin(); size != shape.rend(); ++size) tensors_ += raw(*size);
    tensors_ += raw(type) + raw(offset);
    ++tensor_count_;
    data_ += bytes;
    data_.resize((data_.size() + kGgufAlignment - 1) / kGgufAlignment * kGgufAlignment);
    return *this;
  }

  std::string bytes(uint32_t version = 3) const {
    std::string head = "GGUF" + raw(version) + raw(tensor_count_) + raw(field_count_) + fields_ + tensors_;
    head.resize((head.size() + kGgufAlignment - 1) / kGgufAlignment * kGgufAlignment);
    return head + data_;
  }

 private:
  static constexpr size_t kGgufAlignment = 32;
  std::string fields_, tensors_, data_;
  uint64_t field_count_ = 0, tensor_count_ = 0;
};

}  // namespace slipstream
