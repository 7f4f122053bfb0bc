// Where the models of these tests lie.
#pragma once

#include <filesystem>

namespace slipstream {

inline std::filesystem::path test_data(const char* name) { return std::filesystem::path(SLIPSTREAM_TEST_DATA) / name; }
inline std::filesystem::path real_model() { return SLIPSTREAM_REAL_MODEL; }
inline bool has_real_model() { return std::filesystem::exists(real_model() / "model.safetensors"); }
inline std::filesystem::path real_gguf() { return SLIPSTREAM_REAL_MODEL ".gguf"; }  // that the folder was made of
inline constexpr const char* kNoRealGguf = "no models/smollm2-135m-instruct.gguf here: run the set-up to test the real file too";
inline constexpr const char* kNoRealModel = "no models/smollm2-135m-instruct here: run the set-up to test the real model too";

}  // namespace slipstream
