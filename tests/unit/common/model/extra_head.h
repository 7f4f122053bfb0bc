// The random head of the committed Llama, said to have the target's own output rows: so it takes
// extra tokens.
#pragma once

#include <filesystem>

#include "tests/unit/common/checkpoint/folder.h"

namespace slipstream {

// Writes it there, and returns the folder.
inline std::filesystem::path extra_head(const Folder& folder) {
  folder.copy(std::filesystem::path(SLIPSTREAM_TEST_DATA) / "tiny-head");
  folder.replace("config.json", "\"vocab_size\"", "\"slipstream\": {\"target_output\": true}, \"vocab_size\"");
  return folder.path();
}

}  // namespace slipstream
