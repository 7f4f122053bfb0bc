#include "services/verifier/settle.h"

#include <algorithm>
#include <utility>

#include <fmt/ranges.h>

namespace slipstream {
namespace {

// How many of the walk's tokens are emitted: all, or up to the first that ends the sequence.
int cut(VerifierSequence& sequence, std::span<const TokenId> emitted) {
  const std::vector<TokenId>& stop_ids = sequence.spec.stop_ids;
  for (size_t i = 0; i < emitted.size(); ++i) {
    if (emitted[i] < 0) {
      sequence.output.finish = Finish::error;
      return static_cast<int>(i);
    }
    if (std::ranges::find(stop_ids, emitted[i]) != stop_ids.end()) {
      sequence.output.finish = Finish::stop;
      return static_cast<int>(i) + 1;
    }
    if (sequence.context.output() + static_cast<int32_t>(i) + 1 >= sequence.spec.output_max) {
      sequence.output.finish = Finish::length;
      return static_cast<int>(i) + 1;
    }
  }
  return static_cast<int>(emitted.size());
}

Fate fate_of(NodeOutcome outcome) {
  switch (outcome) {
    case NodeOutcome::accepted:
      return Fate::accepted;
    case NodeOutcome::rejected:
      return Fate::rejected;
    case NodeOutcome::unreached:
      return Fate::unreached;
  }
  return Fate::unreached;
}

}  // namespace

Settled settle(VerifierSequence& sequence, const BatchSlice& slice, const Walk& walked, VerifierCounters& counters) {
  const int emitted = cut(sequence, walked.emitted);
  const int accepted = std::min(emitted, static_cast<int>(walked.accepted.size()));
  const std::vector<NodeOutcome> outcomes = slipstream::outcomes(slice.tree.tokens(), walked, accepted);
  for (size_t node = 0; node < outcomes.size(); ++node) sequence.fates.settle(slice.kinds[node], 1, fate_of(outcomes[node]));
  if (!slice.tree.empty()) counters.accepted_length.observe(accepted);

  std::vector<int32_t> path;
  for (int i = 0; i < accepted; ++i) path.push_back(walked.accepted[static_cast<size_t>(i)] + 1);
  sequence.context.commit(path, std::span(walked.emitted).first(static_cast<size_t>(emitted)));
  SequenceOutput& output = sequence.output;
  for (int i = 0; i < emitted; ++i) output.drafted.push_back(i < accepted ? 1 : 0);
  output.depths.resize(output.drafted.size(), static_cast<uint8_t>(slice.tree.depth()));
  if (emitted > 0) ++output.steps;
  counters.output_tokens += static_cast<uint64_t>(emitted);
  return {.emitted = emitted, .accepted_nodes = accepted, .path = std::move(path)};
}

namespace {

void not_finite(VerifierSequence& sequence, VerifierCounters& counters) {
  sequence.output.reason = "the model gave logits that are not finite";
  ++counters.non_finite_rows;
}

}  // namespace

void explain_no_token(VerifierSequence& sequence, int32_t vocabulary, VerifierCounters& counters) {
  const auto& processor = sequence.context.logits_processor();
  const GrammarGuide::Mask allowed = sequence.grammar ? sequence.grammar->allowed_after({}) : nullptr;
  if (!processor || processor->leaves_a_token(vocabulary, allowed.get())) {
    return not_finite(sequence, counters);
  }
  std::vector<std::string_view> masks = sequence.spec.logits_params.masks();
  if (allowed != nullptr) masks.push_back(kGrammarField);
  sequence.output.field = masks.front();
  sequence.output.reason = fmt::format("no token is left after the first {} of this answer: `{}` forbid{} every one.",
                                       sequence.context.output(), fmt::join(masks, "` and `"), masks.size() == 1 ? "s" : "");
  ++counters.masked_rows;
}

bool keep_prompt_logprobs(VerifierSequence& sequence, const BatchSlice& slice, const VerifyPlan& plan, const StepOutput& output,
                          VerifierCounters& counters) {
  const auto first = static_cast<size_t>(slice.rows.first_scored), count = static_cast<size_t>(slice.rows.scored);
  const auto refused = [&](const LogprobRow& row) { return output.sampled_tokens[static_cast<size_t>(row.wanted)] < 0; };
  if (std::ranges::any_of(std::span(plan.step.logprobs).subspan(first, count), refused)) {
    sequence.output.finish = Finish::error;
    not_finite(sequence, counters);
    return false;
  }
  if (count > 0) sequence.output.prompt.add(std::span(output.logprobs).subspan(first, count));
  return true;
}

void keep_logprobs(VerifierSequence& sequence, const Settled& settled, std::span<const TokenLogprob> logprobs) {
  for (int i = 0; i < settled.emitted; ++i) {
    const int32_t row = i == 0 ? 0 : settled.path[static_cast<size_t>(i) - 1];  // the row that the token came after
    sequence.output.logprobs.push_back(logprobs[static_cast<size_t>(row)]);
  }
}

// A drafter that came while the step ran may need earlier ones, or others than were read: a later
// step reads them.
void keep_features(VerifierSequence& sequence, const BatchSlice& slice, const StepOutput& output, int32_t numbers,
                   std::span<const int32_t> path) {
  FeatureWindow& window = sequence.drafting.features;
  const FeatureRows& read = slice.features;
  if (!sequence.drafting.reads_features || read.from != window.end()) return;
  const auto width = static_cast<size_t>(numbers);
  const auto rows = std::span(output.features).subspan(read.first * width);
  window.append(rows.first(static_cast<size_t>(read.context) * width), read.context);
  if (!read.whole) return;
  for (const int32_t row : path) window.append(rows.subspan(static_cast<size_t>(read.context + row - 1) * width, width), 1);
}

// A token was chosen after the root, or after the accepted node before it.
void add_near_ties(VerifierSequence& sequence, const Settled& settled, std::span<const uint8_t> rows,
                   VerifierCounters& counters) {
  uint32_t near = 0;
  for (int i = 0; i < settled.emitted; ++i)
    near += rows[i == 0 ? 0 : static_cast<size_t>(settled.path[static_cast<size_t>(i) - 1])];
  sequence.output.near_ties += near;
  counters.near_ties += near;
}

void add_spent(VerifierSequence& sequence, const Settled& settled, std::span<const double> spent) {
  for (const double variation : spent.first(std::min(spent.size(), static_cast<size_t>(settled.emitted)))) {
    sequence.output.spent += static_cast<float>(variation);
  }
}

}  // namespace slipstream
