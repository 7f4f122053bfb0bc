// The random head of the committed Llama, said to have the target's own output rows: so it takes
// extra tokens.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/unit/common/checkpoint/folder.h"

namespace slipstream {

// Writes it there, and returns the folder.
inline std::filesystem::path extra_head(const std::filesystem::path& folder) {
  const std::filesystem::path from = std::filesystem::path(SLIPSTREAM_TEST_DATA) / "tiny-head";
  std::filesystem::copy(from, folder,
                        std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing);
  std::ifstream in(from / "config.json");
  std::string text((std::istreambuf_iterator<char>(in)), {});
  text.insert(text.find("\"vocab_size\""), "\"slipstream\": {\"target_output\": true}, ");
  std::ofstream(folder / "config.json") << text;
  return folder;
}

}  // namespace slipstream
