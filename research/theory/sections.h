// The report's sections. Each simulates, computes the formulas beside it, and says what is seen.
#pragma once

#include <functional>

#include "research/theory/decoding.h"
#include "research/theory/report.h"

namespace slipstream::theory {

// What all sections share: how much is simulated, from which seed, and who is told what is being
// done.
class Study {
 public:
  Study(int runs, uint64_t seed, std::function<void(const std::string&)> tell);

  int runs() const { return runs_; }
  uint64_t pair_seed() const { return seed_; }                    // of the chains
  uint64_t fresh_seed() { return seed_ << 32 | ++experiments_; }  // of one simulation; below 2^32 of them
  void tell(const std::string& what) const { tell_(what); }

  // So many answers, each with dice of its own.
  void answers(int runs, const std::function<void(RandomPair&)>& answer);
  Estimate mean(int runs, const std::function<double(RandomPair&)>& answer);  // over them

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
