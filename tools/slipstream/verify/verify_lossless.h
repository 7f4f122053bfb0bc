// slipstream verify-lossless: does a server say the same with speculation as without, or one server
// the same as another? To the byte where that is the promise, as a distribution where that is; with
// a report that a person can read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "tools/slipstream/verify/report.h"
#include "tools/slipstream/verify/request_flags.h"

namespace slipstream::command::verify {

inline constexpr int kSeedMax = 4000;   // there are servers that take 32 bits of a seed
inline constexpr int kStreamsMax = 64;  // a router has 256 places in its queue

struct VerifyOptions {
  std::string server;                  // one Slipstream, speculation off against on; or
  std::string reference, candidate;    // any two
  std::string model, candidate_model;  // asked for in place of what /v1/models names
  SpeculationFlags speculation;        // the candidate's
  RequestFlags request;                // both sides'
  std::filesystem::path prompts;       // file; empty: ours
  std::string only;                    // "bytes", "distribution"; empty: both
  std::vector<float> temperatures{0.0F, 0.7F, 1.0F};
  int seeds = 2;                 // of the first part, for each prompt and temperature
  int tokens = 64;               // of its answers, at most
  int samples = 1000;            // of the second part, a side, for each prompt and temperature above 0
  int64_t seed = 1;              // which million of seeds the answers are sampled with
  int distribution_prompts = 1;  // the first so many
  int positions = 4;
  double alpha = 1e-3;                   // of all tests together
  std::optional<int> allow_differences;  // between two servers
  int streams = 8;
  std::filesystem::path report = "verify-lossless";  // .md and .html are written
};

// Prints progress, a table and the verdict, and writes the report. Error: contradictory options, a
// prompts file that cannot be read, a server that is not there, or a report that cannot be written:
// nothing can be told.
Result<Verdict> verify_lossless(const VerifyOptions& options);

}  // namespace slipstream::command::verify
