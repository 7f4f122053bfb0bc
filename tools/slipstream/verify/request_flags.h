// The flags that set fields of the requests, under the names of the fields (docs/use/API.md):
// fields of both servers' requests, and fields of the candidate's `speculation`.
#pragma once

#include <optional>
#include <string>

#include "common/base/result.h"

namespace slipstream::command::verify {

struct RequestFlags {
  std::optional<double> top_p, min_p, repetition_penalty, presence_penalty, frequency_penalty;
  std::optional<int> top_k;
  std::string response_format;  // a file: a JSON schema, or the field itself; "": none
  std::string fields;           // any other fields, as a JSON object

  // Returns the fields as one JSON object, or "" if there are none. Error: `fields` is no object,
  // or names a field that the command or another flag sets; the file cannot be read.
  Result<std::string> json() const;
};

struct SpeculationFlags {
  std::string rule;  // "": the server's default
  std::string drafter;
  std::optional<int> siblings, nodes, depth;
  std::optional<double> lenience, epsilon, delta;

  std::string json() const;     // all fields but the rule, as a JSON object; "" if there are none
  bool declares_bias() const;   // the rule may change the distribution and declares by how much
  bool promises_bytes() const;  // equal seeds give equal answers
  // Error: an unknown rule, a rule without a flag that it needs, or a flag that the rule does not
  // take.
  Result<void> check() const;
};

}  // namespace slipstream::command::verify
