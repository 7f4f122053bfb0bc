// Three tokens after one prompt, drawn by a cluster again and again.
#pragma once

#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "tests/e2e/cluster.h"
#include "tests/e2e/triple_judge.h"

namespace slipstream::e2e {

inline constexpr const char* kTripleWords = "hello";

// Seeds 0, 1, ..., count - 1, over 32 connections at once. request: fields besides the question, or in place of temperature 1.
std::vector<Triple> draw_triples(Cluster& cluster, size_t count, const nlohmann::json& request);
std::vector<Triple> draw_triples(Cluster& cluster, size_t count);

}  // namespace slipstream::e2e
