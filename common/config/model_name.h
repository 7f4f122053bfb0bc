// The name under which a model is shown and requested, derived from its path.
#pragma once

#include <string>

namespace slipstream {

// The last part of the path, without the ending ".gguf".
//
//   model_name("models/smollm2.gguf") == "smollm2"
//   model_name("models/Qwen3-0.6B/") == "Qwen3-0.6B"
std::string model_name(const std::string& path);

}  // namespace slipstream
