// The sections of the report. Each runs simulations, computes the formulas, and describes what the
// figures show.
#pragma once

#include <functional>

#include "research/theory/decoding.h"
#include "research/theory/report.h"

namespace slipstream::theory {

// Shared by all sections: the number of runs, the seeds, and a callback for progress messages.
class Study {
 public:
  Study(int runs, uint64_t seed, std::function<void(const std::string&)> tell);

  int runs() const { return runs_; }
  uint64_t pair_seed() const { return seed_; }                    // seed of the chains
  uint64_t fresh_seed() { return seed_ << 32 | ++experiments_; }  // seed of one simulation; at most 2^32 of them
  void tell(const std::string& what) const { tell_(what); }

  // Simulates `runs` answers, each with its own randomness.
  void answers(int runs, const std::function<void(RandomPair&)>& answer);
  Estimate mean(int runs, const std::function<double(RandomPair&)>& answer);  // of `runs` answers

 private:
  int runs_;
  uint64_t seed_, experiments_ = 0;
  std::function<void(const std::string&)> tell_;
};

Section rejection_section(Study& study);   // 2411.00841, Theorems 1, 2 and 3
Section bias_section(Study& study);        // 2411.00841, Theorems 4 and 5
Section throughput_section(Study& study);  // 2211.17192, Section 3
Section length_section(Study& study);      // 2405.19715, Section 2

Report full_report(Study& study);

}  // namespace slipstream::theory
