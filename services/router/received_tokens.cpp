#include "services/router/received_tokens.h"

#include <algorithm>

namespace slipstream {
namespace {

SpeculationReport sum(const SpeculationReport& a, const SpeculationReport& b) {
  return {.steps = a.steps + b.steps,
          .received = a.received + b.received,
          .accepted = a.accepted + b.accepted,
          .rejected = a.rejected + b.rejected,
          .unreached = a.unreached + b.unreached,
          .trimmed = a.trimmed + b.trimmed,
          .late = a.late + b.late,
          .stale = a.stale + b.stale,
          .invalid = a.invalid + b.invalid,
          .merged = a.merged + b.merged,
          .held = a.held + b.held,
          .spent = a.spent + b.spent,
          .cached_tokens = std::max(a.cached_tokens, b.cached_tokens)};
}

}  // namespace

ReceivedTokens::Taken ReceivedTokens::take(const Tokens& tokens, int32_t output_max) {
  Taken taken;
  const int64_t first = tokens.first_index;
  const int64_t end = first + static_cast<int64_t>(tokens.ids.size());
  const auto in_vocabulary = [this](TokenId id) { return 0 <= id && id < vocabulary_; };
  if (first < 0 || end > output_max || tokens.drafted.size() != tokens.ids.size() ||
      tokens.depths.size() != tokens.ids.size() || tokens.logprobs.size() != (logprobs_ ? tokens.ids.size() : 0) ||
      !std::ranges::all_of(tokens.ids, in_vocabulary)) {
    taken.arrival = Arrival::invalid;
    return taken;
  }
  if (first > next_index()) {
    taken.arrival = Arrival::gap;
    return taken;
  }
  const int64_t skip = std::min<int64_t>(next_index(), end) - first;
  taken.repeated = static_cast<int32_t>(skip);
  taken.ids.assign(tokens.ids.begin() + skip, tokens.ids.end());
  taken.drafted.assign(tokens.drafted.begin() + skip, tokens.drafted.end());
  taken.depths.assign(tokens.depths.begin() + skip, tokens.depths.end());
  if (logprobs_) taken.logprobs.assign(tokens.logprobs.begin() + skip, tokens.logprobs.end());
  // A finish stands behind the last token of its message. A message that ends before next_index()
  // is an old copy.
  if (end >= next_index()) taken.finish = tokens.finish;
  if (taken.ids.empty() && taken.finish == Finish::none) return taken;

  taken.arrival = Arrival::fresh;
  emitted_.insert(emitted_.end(), taken.ids.begin(), taken.ids.end());
  // A verifier that has freed the sequence sends an empty report: the one before it stays.
  if (tokens.report.steps >= current_.steps) current_ = tokens.report;
  for (auto at = static_cast<size_t>(skip); at < tokens.ids.size(); ++at) histogram_.add(tokens.drafted[at], tokens.depths[at]);
  if (taken.finish != Finish::none) histogram_.end_step();
  return taken;
}

// Draft nodes that the verifier of the old epoch held will never get a fate. They leave `received`,
// so that the fates still add up.
void ReceivedTokens::begin_epoch() {
  before_ = sum(before_, current_);
  before_.received -= std::min(before_.received, before_.held);
  before_.held = 0;
  current_ = {};
  histogram_.end_step();
}

SpeculationReport ReceivedTokens::report() const { return sum(before_, current_); }

}  // namespace slipstream
