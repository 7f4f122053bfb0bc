// What was found, and what follows from it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/slipstream/verify/byte_check.h"
#include "tools/slipstream/verify/distribution_check.h"
#include "tools/slipstream/verify/document.h"

namespace slipstream::command::verify {

// The exit status of the command.
enum class Verdict : int { same = 0, different = 1, unknown = 2 };

struct Report {
  std::string reference, candidate;  // in words
  std::string asked;                 // further fields of both sides' requests, as JSON; empty: none
  std::string seeds;                 // that the answers were sampled with, in words
  std::string made;                  // when, with what
  std::vector<std::string> prompts;
  bool bytes_promised = false;  // also above temperature 0: equal seeds, equal words
  bool speculates = false;      // the candidate is to have drafts: without any, nothing is shown
  size_t allowed = 0;           // answers that may differ in the first part
  std::optional<BytesResult> bytes;
  std::optional<DistributionResult> distribution;
  std::string problem;  // why a part could not be done; empty: none
};

Verdict verdict(const Report& report);
std::string sentence(const Report& report);  // the verdict and its reason

Table distribution_table(const DistributionResult& distribution);
std::string power_sentence(
    const DistributionResult& distribution);  // what the distribution tests find, and what finding 1 % would take
Document document(const Report& report);

}  // namespace slipstream::command::verify
