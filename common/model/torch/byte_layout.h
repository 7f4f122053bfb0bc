// Arrays that lie behind each other in one piece of memory. Private to common/model/torch.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace slipstream {

class ByteLayout {
 public:
  // Where an array of so many elements begins.
  int64_t add(int64_t count, size_t each) {
    constexpr int64_t kAlignment = 16;
    const int64_t offset = bytes_;
    bytes_ += (count * static_cast<int64_t>(each) + kAlignment - 1) / kAlignment * kAlignment;
    return offset;
  }
  int64_t bytes() const { return bytes_; }

 private:
  int64_t bytes_ = 0;
};

// Room for `need` things where there was room for `have`: it doubles, so that it grows seldom.
inline int64_t grown(int64_t have, int64_t need) {
  return need <= have ? have : static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(need)));
}

}  // namespace slipstream
