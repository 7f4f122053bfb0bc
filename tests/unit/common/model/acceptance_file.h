// Acceptance heads of made-up numbers, as files.
#pragma once

#include <bit>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "common/model/heads/acceptance_head.h"

namespace slipstream {

// Writes an acceptance head of one layer beside a drafter of that hash. number(i), which bf16 must
// hold exactly, is the i-th number of its tensors in the order bias [hidden] and weight [hidden,
// hidden] of the layer, bias [2] and weight [2, hidden] of the output, weight [2] of the
// confidence.
template <class Number>
void write_acceptance_head(const std::filesystem::path& drafter, uint64_t hash, int hidden, const Number& number) {
  const std::string width = std::to_string(hidden);
  const std::vector<std::pair<std::string, std::string>> tensors{{"layers.0.bias", width},
                                                                 {"layers.0.weight", width + "," + width},
                                                                 {"out.bias", "2"},
                                                                 {"out.weight", "2," + width},
                                                                 {"confidence.weight", "2"}};
  const size_t sizes[] = {static_cast<size_t>(hidden), static_cast<size_t>(hidden * hidden), 2, static_cast<size_t>(2 * hidden),
                          2};
  std::string header = R"({"__metadata__":{"drafter":")" + fmt::format("{:016x}", hash) + "\"}", data;
  for (size_t tensor = 0, at = 0; tensor < tensors.size(); ++tensor) {
    const size_t begin = data.size();
    for (size_t i = 0; i < sizes[tensor]; ++i, ++at) {
      const auto bits = static_cast<uint16_t>(std::bit_cast<uint32_t>(number(at)) >> 16);
      data.append(reinterpret_cast<const char*>(&bits), sizeof(bits));
    }
    header += ",\"" + tensors[tensor].first + R"(":{"dtype":"BF16","shape":[)" + tensors[tensor].second +
              "],\"data_offsets\":[" + std::to_string(begin) + "," + std::to_string(data.size()) + "]}";
  }
  header += "}";
  header.resize((header.size() + 7) / 8 * 8, ' ');  // as writers do, so that data begins at a multiple of 8
  const uint64_t size = header.size();
  const std::filesystem::path folder = acceptance_folder(drafter);
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "model.safetensors", std::ios::binary)
      << std::string(reinterpret_cast<const char*>(&size), sizeof(size)) << header << data;
}

}  // namespace slipstream
