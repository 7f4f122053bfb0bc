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
          .cached_tokens = sequence.output.cached_tokens};
}

void deliver(VerifierSequence& sequence, Time now, std::vector<VerifierEffect>& effects) {
  const SequenceOutput& output = sequence.output;
  SendWindow& window = sequence.delivery.window;
  const auto prompt = static_cast<size_t>(sequence.spec.prompt_length);
  while (const auto from = window.next(sequence.to_send())) {
    const auto at = static_cast<size_t>(*from);
    const size_t count = std::min<size_t>(output.drafted.size() - at, kTokensPerMessageMax);
    const bool last = at + count == output.drafted.size();
    const auto ids = std::span(sequence.context.tokens()).subspan(prompt + at, count);
    const auto drafted = std::span(output.drafted).subspan(at, count);
    const auto depths = std::span(output.depths).subspan(at, count);
    std::span<const TokenLogprob> logprobs = output.logprobs;
    if (!logprobs.empty()) logprobs = logprobs.subspan(at - static_cast<size_t>(output.logprobs_from), count);
    effects.push_back(To<Tokens>{sequence.identity.router,
                                 {.sequence = sequence.identity.id,
                                  .epoch = sequence.identity.epoch,
                                  .first_index = *from,
                                  .ids = {ids.begin(), ids.end()},
                                  .drafted = {drafted.begin(), drafted.end()},
                                  .depths = {depths.begin(), depths.end()},
                                  .finish = last ? output.finish : Finish::none,
                                  .reason = last ? output.reason : std::string(),
                                  .field = last ? output.field : std::string(),
                                  .report = report_of(sequence),
                                  .logprobs = {logprobs.begin(), logprobs.end()}}});
    window.sent(last ? sequence.to_send() : *from + static_cast<int32_t>(count), now);
  }
}

void acknowledge(VerifierSequence& sequence, int32_t next, Time now) {
  sequence.delivery.window.ack(next, now);
  if (!sequence.spec.top_logprobs) return;
  SequenceOutput& output = sequence.output;
  output.logprobs.erase(output.logprobs.begin(), output.logprobs.begin() + (next - output.logprobs_from));
  output.logprobs_from = next;
}

}  // namespace slipstream
