// The token ids that the router makes of one user message. An oracle drafter must know them, and
// an exact distribution begins with them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/base/ids.h"

namespace slipstream::e2e {

std::vector<TokenId> prompt_ids(const std::filesystem::path& model, const std::string& words);

// An answer that the scripted oracle reads (scripted/oracle_method.h): its prompt, its output and
// its seed.
struct Known {
  std::vector<TokenId> prompt, output;
  uint64_t seed = 0;
};
void write_answers(const std::filesystem::path& file, const std::vector<Known>& answers);

}  // namespace slipstream::e2e
