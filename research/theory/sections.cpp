#include "research/theory/sections.h"

#include <fmt/format.h>

#include "common/base/build_info.h"

namespace slipstream::theory {

Study::Study(int runs, uint64_t seed, std::function<void(const std::string&)> tell)
    : runs_(runs), seed_(seed), tell_(std::move(tell)) {}

void Study::answers(int runs, const std::function<void(RandomPair&)>& answer) {
  // A new seed for each simulation, so that all of them are independent.
  const uint64_t seed = fresh_seed();
  for (int run = 0; run < runs; ++run) {
    CounterRandomPair random(seed, static_cast<uint32_t>(run));
    answer(random);
  }
}

Estimate Study::mean(int runs, const std::function<double(RandomPair&)>& answer) {
  Mean mean;
  answers(runs, [&](RandomPair& random) { mean.add(answer(random)); });
  return mean.estimate();
}

Report full_report(Study& study) {
  Report report{.made_with = fmt::format("{} runs at most for each number, seed {}; {}.", study.runs(), study.pair_seed(),
                                         build_summary())};
  report.sections.push_back(rejection_section(study));
  report.sections.push_back(bias_section(study));
  report.sections.push_back(throughput_section(study));
  report.sections.push_back(length_section(study));
  return report;
}

}  // namespace slipstream::theory
