// Real prompts: 40 committed ones (data/README.md), and more where the shared data sets lie
// beside the checkout.
#pragma once

#include <string>
#include <vector>

#include "tools/slipstream/chat_client.h"

namespace slipstream::e2e {

std::vector<std::string> committed_prompts(size_t count);
// The first turns of Spec-Bench, from SLIPSTREAM_DATA or ../shared/data. Without either, the
// committed prompts, as many as there are.
std::vector<std::string> shared_prompts(size_t count);

// A question for each prompt, by turns greedy and at temperature 1 with a seed of its own.
std::vector<command::Question> by_turns(const std::vector<std::string>& prompts, int tokens_max);
// Each prompt both ways.
std::vector<command::Question> both_ways(const std::vector<std::string>& prompts, int tokens_max);

}  // namespace slipstream::e2e
