// Samples the first tokens after one prompt from a cluster, again and again.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "tests/e2e/support/cluster.h"
#include "tests/e2e/support/distribution_judge.h"

namespace slipstream::e2e {

inline constexpr const char* kSampledWords = "hello";

// Asks with seeds 0, 1, ..., count - 1 over 32 connections at once. request: further fields, which
// replace the defaults of six tokens at temperature 1. `take` gets the replies as they are ready,
// one at a time.
void ask_seeds(Cluster& cluster, size_t count, const nlohmann::json& request,
               const std::function<void(size_t seed, const std::string& reply)>& take);

Draw draw_in(const std::string& reply, size_t length);  // its first tokens
// Whether two consecutive tokens of the first `length` were guessed. One tree guessed both, because
// the last token of a round is not a guess.
bool went_two_deep(const std::string& reply, size_t length);

}  // namespace slipstream::e2e
