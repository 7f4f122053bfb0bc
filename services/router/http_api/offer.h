// What this server offers to requests: the names by which they may call the model, the acceptance
// rules that they may choose, and the sampling of those that do not say how to sample.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "common/sampling/params.h"

namespace slipstream {

inline constexpr std::string_view kAnyModelName = "*";

// The values of request fields that are left out. The neutral ones are OpenAI's.
struct SamplingDefaults {
  SamplingParams params;
  float repetition_penalty = 1.0F;
  bool operator==(const SamplingDefaults&) const = default;
};

struct Offer {
  std::vector<std::string> names;                // of the model, at least one; kAnyModelName: any other name is taken, too
  std::vector<std::string> rules = {"coupled"};  // names (messages/rules.h)
  SamplingDefaults defaults;
  bool ollama = false;  // Ollama's paths are there
  bool strict = false;  // requests with fields that are not used are refused

  const std::string& name() const { return names.front(); }  // as answers tell it
  bool takes(std::string_view asked) const {
    return std::ranges::find(names, asked) != names.end() || std::ranges::find(names, kAnyModelName) != names.end();
  }
};

}  // namespace slipstream
