// slipstream verify-lossless: checks that a server gives the same answers with speculation as
// without, or that two servers give the same answers. It compares bytes where equal bytes are
// promised, distributions where equal distributions are promised, and writes a report.
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

inline constexpr int kSeedMax = 4000;   // some servers take only 32 bits of a seed
inline constexpr int kStreamsMax = 64;  // a router's queue has 256 places

struct VerifyOptions {
  std::string server;                  // one Slipstream server, speculation off against on; or
  std::string reference, candidate;    // any two servers
  std::string model, candidate_model;  // models to ask for instead of the first in /v1/models
  std::string api_key;                 // of both servers; "": none
  SpeculationFlags speculation;        // of the candidate
  RequestFlags request;                // of both servers
  std::filesystem::path prompts;       // a file; empty: the built-in prompts
  std::string only;                    // "bytes" or "distribution"; "": both parts
  std::vector<float> temperatures{0.0F, 0.7F, 1.0F};
  int seeds = 2;                 // first part: for each prompt and temperature
  int tokens = 64;               // first part: longest answer
  int samples = 1000;            // second part: of each server, for each prompt and temperature above 0
  int64_t seed = 1;              // which range of a million seeds the samples use (kSeedStride)
  int distribution_prompts = 1;  // second part: uses this many of the prompts
  int positions = 4;
  double alpha = 1e-3;                   // chance of even one false alarm in all tests
  std::optional<int> allow_differences;  // first part, two servers only
  int streams = 8;
  std::filesystem::path report = "verify-lossless";  // without its ending: .md and .html are written
};

// Prints progress, a table and the verdict, and writes the report. Error: contradictory options, an
// unreadable prompts file, a server that does not answer, or a report that cannot be written. There
// is no verdict then.
Result<Verdict> verify_lossless(const VerifyOptions& options);

}  // namespace slipstream::command::verify
