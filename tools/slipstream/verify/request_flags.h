// What a user wants in the requests, by the names of their fields (docs/use/API.md): in those of
// both sides, and in the candidate's `speculation`.
#pragma once

#include <optional>
#include <string>

#include "common/base/result.h"

namespace slipstream::command::verify {

struct RequestFlags {
  std::optional<double> top_p, min_p, repetition_penalty, presence_penalty, frequency_penalty;
  std::optional<int> top_k;
  std::string fields;  // any others, as a JSON object

  // As one JSON object; empty: there is none. Error: `fields` is no object, or names what the
  // command sets itself or another flag has.
  Result<std::string> json() const;
};

struct SpeculationFlags {
  std::string rule;  // empty: the server's own
  std::string drafter;
  std::optional<int> siblings, nodes, depth;
  std::optional<double> lenience, epsilon, delta;

  std::string json() const;     // all but the rule, as a JSON object; empty: there is none
  bool declares_bias() const;   // the rule does not promise the target's distribution, but says how far it strays
  bool promises_bytes() const;  // equal seeds, equal words
  // Error: a rule that there is not, one that lacks what it must be told, or a flag that does not
  // go with it.
  Result<void> check() const;
};

}  // namespace slipstream::command::verify
