// The results of verify-lossless and the verdict that follows from them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/slipstream/verify/byte_check.h"
#include "tools/slipstream/verify/distribution_check.h"
#include "tools/slipstream/document.h"

namespace slipstream::command::verify {

// The exit status of the command.
enum class Verdict : int { same = 0, different = 1, unknown = 2 };

struct Report {
  std::string reference, candidate;  // in words
  std::string asked;                 // more fields of both servers' requests, as JSON; "": none
  std::string seeds;                 // seeds of the answers, in words
  std::string made;                  // date and versions
  std::vector<std::string> prompts;
  bool bytes_promised = false;  // above temperature 0, too, equal seeds promise equal answers
  bool speculates = false;      // the candidate should draft: without any draft the verdict is "unknown"
  size_t allowed = 0;           // answers of the first part that may differ
  std::optional<BytesResult> bytes;
  std::optional<DistributionResult> distribution;
  std::string problem;  // why a part could not be run; "": none
};

// different: more answers differ than allowed, or a distribution test rejects. unknown: a part
// failed, or had too few samples or drafts to tell.
Verdict verdict(const Report& report);
std::string sentence(const Report& report);  // the verdict and its reason

Table distribution_table(const DistributionResult& distribution);
// What the distribution tests find, and how many samples it would take to find a shift of 1 %.
std::string power_sentence(const DistributionResult& distribution);
Document document(const Report& report);

}  // namespace slipstream::command::verify
