// The first tokens after one prompt, sampled by a cluster again and again.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "tests/e2e/cluster.h"
#include "tests/e2e/distribution_judge.h"

namespace slipstream::e2e {

inline constexpr const char* kSampledWords = "hello";

// Asks with seeds 0, 1, ..., count - 1, over 32 connections at once; request: fields besides the
// question, or in place of six tokens at temperature 1. Replies come as they are ready, one at a
// time.
void ask_seeds(Cluster& cluster, size_t count, const nlohmann::json& request,
               const std::function<void(size_t seed, const std::string& reply)>& take);

Draw draw_in(const std::string& reply, size_t length);  // its first tokens
// Two of so many first tokens, one behind the other, were guessed: by one tree, for what a round
// ends with is not.
bool went_two_deep(const std::string& reply, size_t length);

}  // namespace slipstream::e2e
