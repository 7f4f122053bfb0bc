// Where the models of these tests lie.
#pragma once

#include <filesystem>

#include "common/model/cpu/cpu_device.h"
#include "common/model/language_model.h"

namespace slipstream {

inline std::filesystem::path test_data(const char* name) { return std::filesystem::path(SLIPSTREAM_TEST_DATA) / name; }
inline std::filesystem::path real_model() { return SLIPSTREAM_REAL_MODEL; }
inline bool has_real_model() { return std::filesystem::exists(real_model() / "model.safetensors"); }
inline std::filesystem::path real_gguf() { return SLIPSTREAM_REAL_MODEL ".gguf"; }  // that the folder was made of
inline constexpr const char* kNoRealGguf =
    "no models/smollm2-135m-instruct.gguf here: run the set-up to test the real file too";
inline constexpr const char* kNoRealModel = "no models/smollm2-135m-instruct here: run the set-up to test the real model too";

// A model on a device of its own.
inline Result<LanguageModel> load_alone(const std::filesystem::path& model, const CpuOptions& computes = {},
                                        const ModelOptions& options = {.cache_blocks = 4}) {
  TRY(std::shared_ptr<Device> device, make_cpu_device(computes));
  return LanguageModel::load(model, device, options);
}

}  // namespace slipstream
