#include "services/verifier/delivery.h"

#include <algorithm>
#include <span>

namespace slipstream {

SpeculationReport report_of(const VerifierSequence& sequence) {
  const auto of = [&](Fate fate) { return static_cast<uint32_t>(sequence.fates.of(fate)); };
  return {.steps = sequence.output.steps,
          .received = static_cast<uint32_t>(sequence.fates.received()),
          .accepted = of(Fate::accepted),
          .rejected = of(Fate::rejected),
          .unreached = of(Fate::unreached),
          .trimmed = of(Fate::trimmed),
          .late = of(Fate::late),
          .stale = of(Fate::stale),
          .invalid = of(Fate::invalid),
          .merged = of(Fate::merged),
          .held = of(Fate::held),
          .spent = sequence.output.spent,
          .cached_tokens = sequence.output.cached_tokens,
          .near_ties = sequence.output.near_ties};
}

namespace {

// What the message from index `from` on brings.
Tokens part_of_prompt(const VerifierSequence& sequence, int32_t from) {
  const int32_t left = std::min(sequence.sendable(), 0) - from;
  const auto count = static_cast<size_t>(std::min(left, kPromptTokensSentMax));
  const auto logprobs = sequence.output.prompt.of(from + sequence.spec.prompt_length, count);
  return {.first_index = from, .logprobs = {logprobs.begin(), logprobs.end()}};
}

Tokens part_of_output(const VerifierSequence& sequence, int32_t from) {
  const SequenceOutput& output = sequence.output;
  const auto at = static_cast<size_t>(from);
  const size_t count = std::min<size_t>(output.drafted.size() - at, kTokensPerMessageMax);
  const auto ids = std::span(sequence.context.tokens()).subspan(static_cast<size_t>(sequence.spec.prompt_length) + at, count);
  const auto drafted = std::span(output.drafted).subspan(at, count);
  const auto depths = std::span(output.depths).subspan(at, count);
  std::span<const TokenLogprob> logprobs = output.logprobs;
  if (!logprobs.empty()) logprobs = logprobs.subspan(at - static_cast<size_t>(output.logprobs_from), count);
  return {.first_index = from,
          .ids = {ids.begin(), ids.end()},
          .drafted = {drafted.begin(), drafted.end()},
          .depths = {depths.begin(), depths.end()},
          .logprobs = {logprobs.begin(), logprobs.end()},
          .trees = output.trees.of(from, from + static_cast<int32_t>(count))};
}

}  // namespace

void deliver(VerifierSequence& sequence, Time now, std::vector<VerifierEffect>& effects) {
  const SequenceOutput& output = sequence.output;
  SendWindow& window = sequence.delivery.window;
  while (const auto from = window.next(sequence.to_send())) {
    Tokens message = *from < 0 ? part_of_prompt(sequence, *from) : part_of_output(sequence, *from);
    const auto end = *from + static_cast<int32_t>(*from < 0 ? message.logprobs.size() : message.ids.size());
    message.sequence = sequence.identity.id;
    message.epoch = sequence.identity.epoch;
    message.report = report_of(sequence);
    const bool last = end == sequence.sendable();
    if (last) {
      message.finish = output.finish;
      message.reason = output.reason;
      message.field = output.field;
    }
    effects.push_back(To<Tokens>{sequence.identity.router, std::move(message)});
    window.sent(last ? sequence.to_send() : end, now);
  }
}

// An index below 0 is one of the prompt: the window's first ones may be, and then no output is
// acked yet.
void acknowledge(VerifierSequence& sequence, int32_t next, Time now) {
  sequence.delivery.window.ack(next, now);
  SequenceOutput& output = sequence.output;
  output.prompt.acked(sequence.spec.prompt_length + next);
  output.trees.acked(next);
  if (!sequence.spec.top_logprobs || next < output.logprobs_from) return;
  output.logprobs.erase(output.logprobs.begin(), output.logprobs.begin() + (next - output.logprobs_from));
  output.logprobs_from = next;
}

}  // namespace slipstream
