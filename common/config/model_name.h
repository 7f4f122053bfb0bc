// What people call a model.
#pragma once

#include <string>

namespace slipstream {

// The name of the model folder, or of the file without ".gguf".
std::string model_name(const std::string& path);

}  // namespace slipstream
