#include "services/verifier/resident_head.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/engine/row_budget.h"
#include "common/messages/shown_names.h"

namespace slipstream {
namespace {

constexpr double kOpenLeast = 0.05;  // so that a guess that is nearly certain does not divide by nothing

double open(double guessed) { return std::clamp(1 - guessed, kOpenLeast, 1.0); }

// In tokens that a sequence would have got meanwhile.
double price_of(double seconds, double step_seconds) { return step_seconds > 0 ? seconds / step_seconds : 0; }

}  // namespace

int chain_length(double alpha, double price, int most) {
  return static_cast<int>(std::ranges::count_if(chain_gains(alpha, most), [&](float gain) { return gain >= price; }));
}

ResidentHead::ResidentHead(std::string name)
    : kind_{.method = name.empty() ? std::string() : std::string(kHeadMethod), .model = std::move(name)} {}

bool ResidentHead::pays(Rule rule, const HeadWorth& own, double guessed, double row_price, double step_seconds) const {
  const HeadWorth& all = worth_.of(rule);
  if (all.asks < kHeadTrialAsks) return true;
  const double asks = kHeadPriorAsks + own.asks;
  const auto both = [&](double of_all, double of_own) { return (kHeadPriorAsks * of_all + own.asks * of_own) / asks; };
  const double untried = std::max(1 - static_cast<double>(own.asks) / kHeadTrialAsks, 0.0);  // of the text
  const double hoped = all.nodes.accepted / std::sqrt(asks) + kHeadAskSpread / std::sqrt(all.asks) +
                       untried * kHeadTextSpread / std::sqrt(all.sequences);
  const NodesWon nodes{.accepted = both(all.nodes.accepted, own.nodes.accepted) + hoped,
                       .verified = both(all.nodes.verified, own.nodes.verified)};
  const double expected = nodes.gain(row_price) / both(all.open, own.open) * open(guessed);
  return expected > 0 && expected >= price_of(draft_seconds_, step_seconds);
}

bool ResidentHead::due_for_probe(Rule rule, const HeadWorth& own, double row_price, double step_seconds) const {
  const double gap = (price_of(draft_seconds_, step_seconds) + row_price) / kHeadProbeShare;
  return std::max(worth_.of(rule).unasked, own.unasked) >= std::min(gap, static_cast<double>(kProbeGapSteps));
}

float ResidentHead::pass_price(double step_seconds) const { return static_cast<float>(price_of(pass_seconds_, step_seconds)); }

void ResidentHead::drafted(int passes, double pass_seconds, double draft_seconds) {
  if (passes < 1) return;
  drafts_ = std::min(drafts_ + 1, kHeadDraftsRemembered);
  pass_seconds_ += (pass_seconds / passes - pass_seconds_) / drafts_;
  draft_seconds_ += (draft_seconds - draft_seconds_) / drafts_;
}

void ResidentHead::won(Rule rule, HeadWorth& own, int verified, int accepted, double guessed) {
  const NodesWon ask{.accepted = static_cast<double>(accepted), .verified = static_cast<double>(verified)};
  HeadWorth& all = worth_.of(rule);
  if (own.asks == 0) ++all.sequences;
  all.won(ask, open(guessed), kHeadAsksRemembered);
  own.won(ask, open(guessed), kHeadOwnAsksRemembered);
}

}  // namespace slipstream
