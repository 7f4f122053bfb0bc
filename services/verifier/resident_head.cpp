#include "services/verifier/resident_head.h"

#include <algorithm>
#include <utility>

namespace slipstream {
namespace {

constexpr double kOpenLeast = 0.05;  // so that a guess that is nearly certain does not divide by nothing

double open(double guessed) { return std::clamp(1 - guessed, kOpenLeast, 1.0); }

void add(double& mean, double newest, bool first) { mean += (newest - mean) * (first ? 1.0 : kHeadWeight); }

}  // namespace

ResidentHead::ResidentHead(std::string name) : kind_{.method = name.empty() ? "" : "head", .model = std::move(name)} {}

bool ResidentHead::drafts_for(const VerifierSequence& sequence) const {
  return !kind_.method.empty() && !is_sampled(sequence.spec.acceptance.rule);
}

bool ResidentHead::pays(Rule rule, double guessed, double step_seconds) const {
  const Worth& worth = worth_.of(rule);
  if (!worth.known) return true;
  const double expected = worth.tokens / worth.open * open(guessed);
  return expected > 0 && expected >= passes_ * static_cast<double>(pass_price(step_seconds));
}

float ResidentHead::pass_price(double step_seconds) const {
  return step_seconds > 0 ? static_cast<float>(pass_seconds_ / step_seconds) : 0;
}

void ResidentHead::drafted(int passes, double seconds) {
  if (passes < 1) return;
  const bool first = passes_ == 0;
  add(passes_, passes, first);
  add(pass_seconds_, seconds / passes, first);
}

void ResidentHead::won(Rule rule, double tokens, double guessed) {
  Worth& worth = worth_.of(rule);
  const bool first = !std::exchange(worth.known, true);
  add(worth.tokens, tokens, first);
  add(worth.open, open(guessed), first);
}

}  // namespace slipstream
