// A sequence's life at the verifier: Start, Ack, Cancel, delivery, end.
#include <algorithm>
#include <utility>

#include "services/verifier/admission.h"
#include "services/verifier/verifier_state.h"

namespace slipstream {

VerifierSequence* Verifier::State::find(SequenceId id, Epoch epoch) {
  const auto at = std::ranges::find_if(sequences, [&](const auto& sequence) { return sequence->id == id; });
  return at == sequences.end() || (*at)->epoch != epoch ? nullptr : at->get();
}

// Only its own router speaks for a sequence.
VerifierSequence* Verifier::State::find(Peer router, SequenceId id, Epoch epoch) {
  VerifierSequence* sequence = find(id, epoch);
  return sequence == nullptr || sequence->router != router ? nullptr : sequence;
}

// Null: it ended while the step ran; another of its name is not meant.
VerifierSequence* Verifier::State::find(const BatchSlice& slice) {
  const auto at = std::ranges::find(sequences, slice.life, [](const auto& sequence) { return sequence->life; });
  return at == sequences.end() ? nullptr : at->get();
}

void Verifier::State::take(From<Start> event, Time now, Effects& effects) {
  Start& start = event.message;
  const auto same = std::ranges::find_if(sequences, [&](const auto& sequence) { return sequence->id == start.sequence; });
  if (same != sequences.end()) {
    if ((*same)->epoch > start.epoch || (*same)->router != event.peer) {
      ++counters.fenced;
      return;
    }
    if ((*same)->epoch == start.epoch) {  // repeated until answered
      effects.push_back(To<Accepted>{event.peer, {start.sequence, start.epoch}});
      return;
    }
    ++counters.sequences_replaced;
    end(**same, effects);
  }
  auto refused = why_not(start, config);
  if (!refused && worker.draining()) refused = NotAdmitted{"this verifier is leaving", true};
  if (!refused && sequences.size() >= static_cast<size_t>(kSequencesPerVerifierMax)) {
    refused = NotAdmitted{"all sequence slots are taken", true};
  }
  if (refused) {
    ++counters.sequences_refused;
    effects.push_back(To<Refused>{event.peer, {start.sequence, start.epoch, refused->reason, refused->retry}});
    return;
  }
  effects.push_back(To<Accepted>{event.peer, {start.sequence, start.epoch}});
  admit(event.peer, std::move(start), now, effects);
}

void Verifier::State::admit(Peer router, Start start, Time now, Effects& effects) {
  ++counters.sequences_started;
  counters.prompt_tokens += static_cast<uint64_t>(start.spec.prompt_length);
  CachedSequence context(cache.pool(), start.spec.prompt_length, start.spec.logits_params);
  context.append(start.tokens);
  auto sequence = std::make_unique<VerifierSequence>(std::move(context));
  sequence->life = ++lives;
  sequence->id = start.sequence;
  sequence->epoch = start.epoch;
  sequence->router = router;
  sequence->spec = std::move(start.spec);
  sequence->drafters = std::move(start.drafters);
  sequence->tuning = std::move(start.tuning);
  sequence->lease = std::chrono::milliseconds(start.lease_ms);
  sequence->lease_ends = now + sequence->lease;
  sequence->drafted.assign(static_cast<size_t>(sequence->output()), 0);
  sequence->depths = sequence->drafted;
  sequence->logprobs_from = sequence->output();
  sequence->window = SendWindow(sequence->output());
  drafting.introduce(*sequence, sequences, effects);
  drafting.begin_round(*sequence, now, effects);
  sequences.push_back(std::move(sequence));
}

void Verifier::State::end(VerifierSequence& sequence, Effects& effects) {
  drafting.release(sequence, effects);
  std::erase_if(sequences, [&](const auto& other) { return other.get() == &sequence; });
}

void Verifier::State::take(From<Assign> event, Time, Effects& effects) {
  Assign& assign = event.message;
  VerifierSequence* sequence = find(event.peer, assign.sequence, assign.epoch);
  if (sequence == nullptr || !sequence->running() || assign.version < sequence->assignment) {
    ++counters.fenced;
    return;
  }
  if (assign.version == sequence->assignment) return;  // said again
  sequence->assignment = assign.version;
  sequence->tuning = std::move(assign.tuning);
  sequence->drafters = std::move(assign.drafters);
  drafting.reassign(*sequence, sequences, effects);
}

void Verifier::State::take(const From<Ack>& event, Time now, Effects& effects) {
  VerifierSequence* sequence = find(event.peer, event.message.sequence, event.message.epoch);
  const int32_t next = event.message.next_index;
  if (sequence == nullptr && !event.message.finished) {  // freed while its router was not heard: let it go on in a new epoch
    effects.push_back(To<Tokens>{
        event.peer,
        {.sequence = event.message.sequence, .epoch = event.message.epoch, .first_index = next, .finish = Finish::cancelled}});
  }
  if (sequence == nullptr || next < sequence->window.acked() || next > sequence->output()) {
    ++counters.fenced;
    return;
  }
  sequence->window.ack(next, now);
  if (sequence->spec.top_logprobs) {
    sequence->logprobs.erase(sequence->logprobs.begin(), sequence->logprobs.begin() + (next - sequence->logprobs_from));
    sequence->logprobs_from = next;
  }
  if (event.message.finished && !sequence->running()) {
    ++counters.sequences_delivered;
    return end(*sequence, effects);
  }
  deliver(*sequence, now, effects);
}

void Verifier::State::take(const From<Cancel>& event, Time, Effects& effects) {
  VerifierSequence* sequence = find(event.peer, event.message.sequence, event.message.epoch);
  if (sequence == nullptr) return;
  ++counters.sequences_cancelled;
  end(*sequence, effects);
}

void Verifier::State::deliver(VerifierSequence& sequence, Time now, Effects& effects) {
  const auto prompt = static_cast<size_t>(sequence.spec.prompt_length);
  while (const auto from = sequence.window.next(sequence.to_send())) {
    const auto at = static_cast<size_t>(*from);
    const size_t count = std::min<size_t>(sequence.drafted.size() - at, kTokensPerMessageMax);
    const bool last = at + count == sequence.drafted.size();
    const auto ids = std::span(sequence.context.tokens()).subspan(prompt + at, count);
    const auto drafted = std::span(sequence.drafted).subspan(at, count);
    const auto depths = std::span(sequence.depths).subspan(at, count);
    std::span<const TokenLogprob> logprobs = sequence.logprobs;
    if (!logprobs.empty()) logprobs = logprobs.subspan(at - static_cast<size_t>(sequence.logprobs_from), count);
    effects.push_back(To<Tokens>{sequence.router,
                                 {.sequence = sequence.id,
                                  .epoch = sequence.epoch,
                                  .first_index = *from,
                                  .ids = {ids.begin(), ids.end()},
                                  .drafted = {drafted.begin(), drafted.end()},
                                  .depths = {depths.begin(), depths.end()},
                                  .finish = last ? sequence.finish : Finish::none,
                                  .reason = last ? sequence.finish_reason : std::string(),
                                  .field = last ? sequence.finish_field : std::string(),
                                  .report = sequence.report,
                                  .logprobs = {logprobs.begin(), logprobs.end()}}});
    sequence.window.sent(last ? sequence.to_send() : *from + static_cast<int32_t>(count), now);
  }
}

}  // namespace slipstream
