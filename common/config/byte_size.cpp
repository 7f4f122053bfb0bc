#include "common/config/byte_size.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

namespace slipstream {
namespace {

struct Unit {
  std::string_view name;
  uint64_t bytes;
};

constexpr std::array<Unit, 8> kUnits{{{"KiB", uint64_t{1} << 10},
                                      {"MiB", uint64_t{1} << 20},
                                      {"GiB", uint64_t{1} << 30},
                                      {"TiB", uint64_t{1} << 40},
                                      {"KB", 1'000},
                                      {"MB", 1'000'000},
                                      {"GB", 1'000'000'000},
                                      {"TB", 1'000'000'000'000}}};
constexpr size_t kBinaryUnits = 4;

}  // namespace

Result<uint64_t> byte_size(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, text.data() + text.size());
  if (error != std::errc() || (number == 0 && unit.empty())) {
    return fail("\"{:.100}\" is no size; write a whole number and a unit: 2GiB or 512MiB", text);
  }
  if (unit.empty()) return fail("\"{:.100}\" has no unit; write {}GiB or {}MiB", text, number, number);
  if (unit.starts_with('.') || unit.starts_with(',')) {
    return fail("\"{:.100}\" is no whole number; write it in a smaller unit: 512MiB is half of 1GiB", text);
  }
  const auto* known = std::ranges::find(kUnits, unit, &Unit::name);
  if (known == kUnits.end()) {
    return fail("\"{:.100}\" is no size: after the number KiB, MiB, GiB or TiB are known, and KB, MB, GB or TB", text);
  }
  if (number == 0 || number > std::numeric_limits<int64_t>::max() / known->bytes) {
    return fail("\"{:.100}\" is out of range; write a size above 0 that a machine has, as 2GiB or 512MiB", text);
  }
  return number * known->bytes;
}

std::string byte_size_words(uint64_t bytes) {
  size_t unit = 0;
  while (unit + 1 < kBinaryUnits && bytes >= kUnits[unit + 1].bytes) ++unit;
  const uint64_t whole = bytes / kUnits[unit].bytes, rest = bytes % kUnits[unit].bytes;
  return fmt::format("{}.{} {}", whole, rest * 10 / kUnits[unit].bytes, kUnits[unit].name);
}

}  // namespace slipstream
