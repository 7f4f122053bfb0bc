// What a number of a setting may be: low to high and, where 0 stands for something of its own, 0 too.
#pragma once

#include <cstdint>
#include <string>

#include <fmt/format.h>

namespace slipstream {

struct Range {
  uint32_t low = 0;
  uint32_t high = 0;
  bool or_zero = false;

  bool has(uint32_t value) const { return (value >= low && value <= high) || (or_zero && value == 0); }
  std::string words() const { return fmt::format("{}{} to {}", or_zero ? "0, or " : "", low, high); }
};

}  // namespace slipstream
