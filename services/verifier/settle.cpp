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
      sequence.finish = Finish::error;
      return static_cast<int>(i);
    }
    if (std::ranges::find(stop_ids, emitted[i]) != stop_ids.end()) {
      sequence.finish = Finish::stop;
      return static_cast<int>(i) + 1;
    }
    if (sequence.output() + static_cast<int32_t>(i) + 1 >= sequence.spec.output_max) {
      sequence.finish = Finish::length;
      return static_cast<int>(i) + 1;
    }
  }
  return static_cast<int>(emitted.size());
}

void count_fates(VerifierSequence& sequence, const Fates& fates, int nodes, VerifierCounters& counters) {
  sequence.report.accepted += static_cast<uint32_t>(fates.accepted);
  sequence.report.rejected += static_cast<uint32_t>(fates.rejected);
  sequence.report.unreached += static_cast<uint32_t>(fates.unreached);
  sequence.report.held -= static_cast<uint32_t>(nodes);
  counters.accepted += static_cast<uint64_t>(fates.accepted);
  counters.rejected += static_cast<uint64_t>(fates.rejected);
  counters.unreached += static_cast<uint64_t>(fates.unreached);
  if (nodes > 0) counters.accepted_length.observe(fates.accepted);
}

}  // namespace

Settled settle(VerifierSequence& sequence, const BatchSlice& slice, const Walk& walked, VerifierCounters& counters) {
  const int emitted = cut(sequence, walked.emitted);
  const int accepted = std::min(emitted, static_cast<int>(walked.accepted.size()));
  count_fates(sequence, fates(slice.tree.tokens(), walked, accepted), slice.tree.size(), counters);

  std::vector<int32_t> path;
  for (int i = 0; i < accepted; ++i) path.push_back(walked.accepted[static_cast<size_t>(i)] + 1);
  sequence.context.commit(path, std::span(walked.emitted).first(static_cast<size_t>(emitted)));
  for (int i = 0; i < emitted; ++i) sequence.drafted.push_back(i < accepted ? 1 : 0);
  sequence.depths.resize(sequence.drafted.size(), static_cast<uint8_t>(slice.tree.depth()));
  if (emitted > 0) ++sequence.report.steps;
  counters.output_tokens += static_cast<uint64_t>(emitted);
  return {.emitted = emitted, .accepted_nodes = accepted, .path = std::move(path)};
}

void explain_no_token(VerifierSequence& sequence, int32_t vocabulary, VerifierCounters& counters) {
  const auto& processor = sequence.context.logits_processor();
  if (!processor || processor->leaves_a_token(vocabulary)) {
    sequence.finish_reason = "the model gave logits that are not finite";
    ++counters.non_finite_rows;
    return;
  }
  const std::vector<std::string_view> masks = sequence.spec.logits_params.masks();
  sequence.finish_field = masks.front();
  sequence.finish_reason = fmt::format("no token is left after the first {} of this answer: `{}` forbid{} every one.",
                                       sequence.output(), fmt::join(masks, "` and `"), masks.size() == 1 ? "s" : "");
  ++counters.masked_rows;
}

void keep_logprobs(VerifierSequence& sequence, const Settled& settled, std::span<const TokenLogprob> logprobs) {
  for (int i = 0; i < settled.emitted; ++i) {
    const int32_t row = i == 0 ? 0 : settled.path[static_cast<size_t>(i) - 1];  // after which it was chosen
    sequence.logprobs.push_back(logprobs[static_cast<size_t>(row)]);
  }
}

}  // namespace slipstream
