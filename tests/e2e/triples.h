// The first three tokens after one prompt, drawn by a cluster again and again.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "tests/e2e/cluster.h"
#include "tests/e2e/triple_judge.h"

namespace slipstream::e2e {

inline constexpr const char* kTripleWords = "hello";

// Asks with seeds 0, 1, ..., count - 1, over 32 connections at once; request: fields besides the question, or in place of
// six tokens at temperature 1. Replies come as they are ready, one at a time.
void ask_seeds(Cluster& cluster, size_t count, const nlohmann::json& request,
               const std::function<void(size_t seed, const std::string& reply)>& take);

Triple triple_in(const std::string& reply);  // its first three tokens
// The second and the third were guessed: by one tree, for what a round ends with is not.
bool went_two_deep(const std::string& reply);

// The tokens of the same.
std::vector<Triple> draw_triples(Cluster& cluster, size_t count, const nlohmann::json& request);
std::vector<Triple> draw_triples(Cluster& cluster, size_t count);

}  // namespace slipstream::e2e
