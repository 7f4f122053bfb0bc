#include "services/verifier/resident_head.h"

#include <algorithm>
#include <utility>

#include "common/messages/shown_names.h"

namespace slipstream {
namespace {

constexpr double kOpenLeast = 0.05;  // so that a guess that is nearly certain does not divide by nothing

double open(double guessed) { return std::clamp(1 - guessed, kOpenLeast, 1.0); }

// Counts one more sample and returns its weight in the mean: all weigh the same until there are
// 1 / kHeadWeight of them.
double weight_of_next(int& samples) {
  const double weight = std::max(kHeadWeight, 1.0 / (samples + 1));
  if (weight > kHeadWeight) ++samples;
  return weight;
}

void add(double& mean, double newest, double weight) { mean += (newest - mean) * weight; }

}  // namespace

ResidentHead::ResidentHead(std::string name)
    : kind_{.method = name.empty() ? std::string() : std::string(kHeadMethod), .model = std::move(name)} {}

bool ResidentHead::drafts_for(const VerifierSequence& sequence) const {
  return !kind_.method.empty() && !is_sampled(sequence.spec.acceptance.rule);
}

bool ResidentHead::pays(Rule rule, double guessed, double row_price, double step_seconds) const {
  const Worth& worth = worth_.of(rule);
  if (worth.asks < kHeadTrialAsks) return true;
  const double expected = (worth.accepted - row_price * worth.verified) / worth.open * open(guessed);
  return expected > 0 && expected >= passes_ * static_cast<double>(pass_price(step_seconds));
}

bool ResidentHead::due_for_probe(Rule rule, double row_price, double step_seconds) const {
  const double gap = (static_cast<double>(pass_price(step_seconds)) + row_price) / kHeadProbeShare;
  return worth_.of(rule).unasked >= std::min(gap, static_cast<double>(kProbeGapSteps));
}

float ResidentHead::pass_price(double step_seconds) const {
  return step_seconds > 0 ? static_cast<float>(pass_seconds_ / step_seconds) : 0;
}

void ResidentHead::drafted(int passes, double seconds) {
  if (passes < 1) return;
  const double weight = weight_of_next(drafts_);
  add(passes_, passes, weight);
  add(pass_seconds_, seconds / passes, weight);
}

void ResidentHead::won(Rule rule, int verified, int accepted, double guessed) {
  Worth& worth = worth_.of(rule);
  const double weight = weight_of_next(worth.asks);
  add(worth.verified, verified, weight);
  add(worth.accepted, accepted, weight);
  add(worth.open, open(guessed), weight);
}

}  // namespace slipstream
