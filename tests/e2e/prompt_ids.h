// The token ids that the router makes of one user message: what an oracle must know, and what an
// exact distribution begins with.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/base/ids.h"

namespace slipstream::e2e {

std::vector<TokenId> prompt_ids(const std::filesystem::path& model, const std::string& words);

// What the scripted oracle reads (scripted/oracle_method.h): prompt and output of each answer, and
// the seed it belongs to.
struct Known {
  std::vector<TokenId> prompt, output;
  uint64_t seed = 0;
};
void write_answers(const std::filesystem::path& file, const std::vector<Known>& answers);

}  // namespace slipstream::e2e
