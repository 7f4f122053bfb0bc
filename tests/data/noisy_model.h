// Copies a model folder and adds noise to its weights, to get a drafter of any quality for a test.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "common/base/check.h"

namespace slipstream {

// Multiplies every weight of `from`, a folder with bf16 weights in model.safetensors, by (1 + noise
// * a standard normal). Replaces the folder `to` and returns it. The noise is the same in every
// run.
inline std::filesystem::path noisy_model(const std::filesystem::path& from, const std::filesystem::path& to, float noise) {
  std::filesystem::remove_all(to);
  std::filesystem::copy(from, to);
  const auto file = to / "model.safetensors";
  std::vector<char> bytes(std::filesystem::file_size(file));
  std::ifstream(file, std::ios::binary).read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  uint64_t header = 0;  // length of the header in bytes, at the beginning of the file
  std::memcpy(&header, bytes.data(), sizeof header);
  std::mt19937_64 random(1);
  std::normal_distribution<float> normal(0, noise);
  for (size_t at = sizeof header + header; at + 2 <= bytes.size(); at += 2) {
    uint16_t half = 0;
    std::memcpy(&half, bytes.data() + at, 2);
    uint32_t word = uint32_t{half} << 16;
    float value = 0;
    std::memcpy(&value, &word, 4);
    value *= 1 + normal(random);
    std::memcpy(&word, &value, 4);
    half = static_cast<uint16_t>(word >> 16);
    std::memcpy(bytes.data() + at, &half, 2);
  }
  std::filesystem::permissions(file, std::filesystem::perms::owner_write, std::filesystem::perm_options::add);
  std::ofstream(file, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return to;
}

}  // namespace slipstream
