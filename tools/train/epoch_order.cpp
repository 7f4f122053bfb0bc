#include "tools/train/epoch_order.h"

#include <numeric>
#include <utility>

#include "kernels/exact/noise.h"

namespace slipstream::train {

// Fisher and Yates. 64 random bits times the number of choices, shifted down by 64 bits: no choice
// is more likely than another by more than 2^-32.
std::vector<uint32_t> epoch_order(size_t count, int64_t epoch, uint64_t seed) {
  std::vector<uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0u);
  for (size_t left = count; left > 1; --left) {
    const auto at = static_cast<uint64_t>(left), of = static_cast<uint64_t>(epoch);
    const PhiloxWords words = philox({{static_cast<uint32_t>(at), static_cast<uint32_t>(at >> 32), static_cast<uint32_t>(of),
                                       static_cast<uint32_t>(of >> 32)}},
                                     seed);
    const uint64_t bits = uint64_t{words.word[0]} << 32 | words.word[1];
    std::swap(order[left - 1], order[static_cast<size_t>(static_cast<unsigned __int128>(bits) * left >> 64)]);
  }
  return order;
}

}  // namespace slipstream::train
