#include "services/router/received_tokens.h"

#include <algorithm>
#include <iterator>

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
          .cached_tokens = std::max(a.cached_tokens, b.cached_tokens),
          .near_ties = a.near_ties + b.near_ties};
}

// The index behind what a message brings.
int64_t end_of(const Tokens& tokens) {
  return tokens.first_index + static_cast<int64_t>(tokens.first_index < 0 ? tokens.logprobs.size() : tokens.ids.size());
}

}  // namespace

bool ReceivedTokens::possible(const Tokens& tokens, int32_t output_max) const {
  const size_t ids = tokens.ids.size();
  if (tokens.first_index < 0) {
    const bool ends = tokens.finish == Finish::stop || tokens.finish == Finish::length;
    return tokens.first_index >= -scored_ && ids == 0 && end_of(tokens) <= 0 && !ends;
  }
  const auto in_vocabulary = [this](TokenId id) { return 0 <= id && id < vocabulary_; };
  const auto known_tree = [&](const TreeReport& tree) {
    return tree.own < vocabulary_ && std::ranges::all_of(tree.nodes, in_vocabulary, &ReportedNode::token);
  };
  if (tokens.trees.size() > static_cast<size_t>(trees_) || !std::ranges::all_of(tokens.trees, known_tree)) return false;
  return end_of(tokens) <= output_max && tokens.drafted.size() == ids && tokens.depths.size() == ids &&
         tokens.logprobs.size() == (logprobs_ ? ids : 0) && std::ranges::all_of(tokens.ids, in_vocabulary);
}

ReceivedTokens::Taken ReceivedTokens::take(const Tokens& tokens, int32_t output_max) {
  Taken taken;
  if (!possible(tokens, output_max)) {
    taken.arrival = Arrival::invalid;
    return taken;
  }
  const int64_t end = end_of(tokens), next = next_index();
  if (tokens.first_index > next) {
    taken.arrival = Arrival::gap;
    return taken;
  }
  const int64_t skip = std::min(next, end) - tokens.first_index;
  taken.repeated = static_cast<int32_t>(skip);
  // A finish stands behind the last token of its message. A message that ends before next_index()
  // is an old copy.
  if (end >= next) taken.finish = tokens.finish;
  tokens.first_index < 0 ? take_prompt(tokens, static_cast<size_t>(skip), taken)
                         : take_output(tokens, static_cast<size_t>(skip), taken);
  if (taken.empty() && taken.finish == Finish::none) return taken;
  taken.arrival = Arrival::fresh;
  if (begins_anew(tokens.report, taken)) add_current();
  // A verifier that has freed the sequence sends an empty report: the one before it stays.
  if (tokens.report.steps >= current_.steps) current_ = tokens.report;
  if (taken.finish != Finish::none) histogram_.end_step();
  return taken;
}

void ReceivedTokens::take_prompt(const Tokens& tokens, size_t skip, Taken& taken) {
  const auto fresh = std::span(tokens.logprobs).subspan(skip);
  taken.prompt_logprobs.assign(fresh.begin(), fresh.end());
  unscored_ -= static_cast<int32_t>(fresh.size());
}

void ReceivedTokens::take_output(const Tokens& tokens, size_t skip, Taken& taken) {
  const auto from = static_cast<int64_t>(skip);
  taken.ids.assign(tokens.ids.begin() + from, tokens.ids.end());
  taken.drafted.assign(tokens.drafted.begin() + from, tokens.drafted.end());
  taken.depths.assign(tokens.depths.begin() + from, tokens.depths.end());
  if (logprobs_) taken.logprobs.assign(tokens.logprobs.begin() + from, tokens.logprobs.end());
  // A round of which some tokens are here already was reported, or its report is lost.
  const auto told = static_cast<int32_t>(emitted_.size());
  std::ranges::copy_if(tokens.trees, std::back_inserter(taken.trees),
                       [told](const TreeReport& tree) { return tree.first_index >= told; });
  emitted_.insert(emitted_.end(), taken.ids.begin(), taken.ids.end());
  for (size_t at = skip; at < tokens.ids.size(); ++at) histogram_.add(tokens.drafted[at], tokens.depths[at]);
}

// Whether the report is that of a second sequence of the same epoch: its verifier had freed the
// first one, whose lease had ended, when a late copy of the Start came. Each new token comes of one
// more step, so the reports of one sequence grow with its tokens.
bool ReceivedTokens::begins_anew(const SpeculationReport& report, const Taken& taken) const {
  return !taken.ids.empty() && report.steps > 0 && report.steps <= current_.steps;
}

// Draft nodes that the verifier of an ended sequence held will never get a fate. They leave
// `received`, so that the fates still add up.
void ReceivedTokens::add_current() {
  before_ = sum(before_, current_);
  before_.received -= std::min(before_.received, before_.held);
  before_.held = 0;
  current_ = {};
}

void ReceivedTokens::begin_epoch() {
  add_current();
  histogram_.end_step();
}

SpeculationReport ReceivedTokens::report() const { return sum(before_, current_); }

}  // namespace slipstream
