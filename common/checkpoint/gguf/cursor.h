// Reads forward through untrusted bytes. Asking for more than is left is an error. Numbers are
// little-endian, as on this machine.
#pragma once

#include <cstring>
#include <span>
#include <string_view>

#include "common/base/result.h"

namespace slipstream {

class GgufCursor {
 public:
  explicit GgufCursor(std::span<const std::byte> bytes) : bytes_(bytes) {}

  size_t at() const { return at_; }
  size_t left() const { return bytes_.size() - at_; }

  // The next `bytes` bytes; a view into the bytes that the cursor was made of.
  Result<std::span<const std::byte>> take(uint64_t bytes) {
    if (bytes > left()) {
      return fail("it needs {} bytes more at byte {}, where the file has {}: it is truncated, copy or download it again", bytes,
                  at_, left());
    }
    const auto taken = bytes_.subspan(at_, bytes);
    at_ += bytes;
    return taken;
  }
  template <class T>
  Result<T> number() {
    TRY(const auto bytes, take(sizeof(T)));
    T value;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  // A text with its length as u64 before it. An error if it is longer than bytes_max.
  Result<std::string_view> text(uint64_t bytes_max) {
    TRY(const auto size, number<uint64_t>());
    if (size > bytes_max) return fail("a text at byte {} claims {} bytes, the limit is {}", at_, size, bytes_max);
    TRY(const auto bytes, take(size));
    return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }

 private:
  std::span<const std::byte> bytes_;
  size_t at_ = 0;
};

}  // namespace slipstream
