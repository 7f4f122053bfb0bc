// The life of a sequence at the verifier: Start, Assign, Ack, Cancel, and its end.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "services/verifier/admission.h"
#include "services/verifier/delivery.h"
#include "services/verifier/sequence_span.h"
#include "services/verifier/verifier_state.h"

namespace slipstream {
namespace {

// A tuning of no nodes turns a drafter off.
std::vector<DrafterRef> those_that_draft(std::vector<DrafterRef> named) {
  std::erase_if(named, [](const DrafterRef& ref) { return ref.tuning.nodes_max == 0; });
  return named;
}

std::vector<std::string> endpoints_of(const std::vector<DrafterRef>& drafters) {
  std::vector<std::string> endpoints;
  for (const DrafterRef& ref : drafters) endpoints.push_back(ref.endpoint);
  return endpoints;
}

// A fault is the operator's to know, whoever is told it as well; what a field of the request led to
// is its client's.
Note how_it_ended(const VerifierSequence& sequence) {
  const SequenceOutput& output = sequence.output;
  if (output.finish == Finish::error) {
    return {.text = "ends with an error: " + output.reason,
            .warning = output.field.empty(),
            .sequence = sequence.identity.id,
            .detail = !output.field.empty()};
  }
  return {.text = fmt::format("ends after {} tokens of output: {}", sequence.context.output(),
                              output.finish == Finish::length ? "no more may follow" : "a stop token"),
          .sequence = sequence.identity.id,
          .detail = true};
}

}  // namespace

VerifierSequence* Verifier::State::find(SequenceId id, Epoch epoch) {
  const auto at = std::ranges::find_if(sequences, [&](const auto& sequence) { return sequence->identity.id == id; });
  return at == sequences.end() || (*at)->identity.epoch != epoch ? nullptr : at->get();
}

VerifierSequence* Verifier::State::find(Peer router, SequenceId id, Epoch epoch) {
  VerifierSequence* sequence = find(id, epoch);
  return sequence == nullptr || sequence->identity.router != router ? nullptr : sequence;
}

VerifierSequence* Verifier::State::find_number(uint64_t number) {
  const auto at = std::ranges::find(sequences, number, [](const auto& sequence) { return sequence->identity.number; });
  return at == sequences.end() ? nullptr : at->get();
}

void Verifier::State::on(From<Start> event, Time now, Effects& effects) {
  Start& start = event.message;
  const auto same =
      std::ranges::find_if(sequences, [&](const auto& sequence) { return sequence->identity.id == start.sequence; });
  if (same != sequences.end()) {
    const SequenceIdentity& identity = (*same)->identity;
    if (identity.epoch > start.epoch || identity.router != event.peer) {
      ++counters.fenced;
      return;
    }
    if (identity.epoch == start.epoch) {  // a Start is repeated until it is answered
      effects.push_back(To<Accepted>{event.peer, {start.sequence, start.epoch}});
      return;
    }
    ++counters.sequences_replaced;
    end(**same, now, effects);
  }
  auto refused = why_not(start, config);
  if (!refused && worker.draining()) refused = NotAdmitted{"this verifier is leaving", true};
  if (!refused && sequences.size() >= static_cast<size_t>(kSequencesPerVerifierMax)) {
    refused = NotAdmitted{"all sequence slots are taken", true};
  }
  Result<std::optional<GrammarGuide>> grammar = refused ? std::nullopt : guide_of(start);
  if (!grammar) refused = NotAdmitted{grammar.error().message, false};
  if (refused) {
    ++counters.sequences_refused;
    effects.push_back(Note{.text = "refused: " + refused->reason, .sequence = start.sequence, .detail = true});
    effects.push_back(To<Refused>{event.peer, {start.sequence, start.epoch, refused->reason, refused->retry}});
    return;
  }
  effects.push_back(To<Accepted>{event.peer, {start.sequence, start.epoch}});
  admit(event.peer, std::move(start), *std::move(grammar), now, effects);
}

Result<std::optional<GrammarGuide>> Verifier::State::guide_of(const Start& start) {
  const GenerationSpec& spec = start.spec;
  if (spec.grammar.empty()) return std::nullopt;
  if (!grammars) return slipstream::fail("this verifier has no tokenizer to compile a grammar with");
  TRY(Grammar grammar, grammars->compile(spec.grammar));
  const auto output = std::span(start.tokens).subspan(static_cast<size_t>(spec.prompt_length));
  return GrammarGuide::begin(std::move(grammar), spec.stop_ids, output);
}

void Verifier::State::admit(Peer router, Start start, std::optional<GrammarGuide> grammar, Time now, Effects& effects) {
  ++counters.sequences_started;
  counters.prompt_tokens += static_cast<uint64_t>(start.spec.prompt_length);
  CachedSequence context(cache.pool(), start.spec.prompt_length, start.spec.logits_params, start.spec.tenant);
  context.append(start.tokens);
  const int32_t output = context.output();  // of earlier epochs
  effects.push_back(Note{.text = fmt::format("begins: {} tokens of prompt, {} of output, {} of output at most",
                                             start.spec.prompt_length, output, start.spec.output_max),
                         .sequence = start.sequence,
                         .detail = true});
  PromptScores scores;
  if (start.spec.prompt_logprobs) scores = {start.scored, start.spec.prompt_length, *start.spec.prompt_logprobs};
  const SequenceIdentity identity{.number = ++sequences_ever,
                                  .id = start.sequence,
                                  .epoch = start.epoch,
                                  .router = router,
                                  .lease = std::chrono::milliseconds(start.lease_ms)};
  auto sequence = std::make_unique<VerifierSequence>(identity, std::move(start.spec), std::move(context), counters.fates);
  sequence->grammar = std::move(grammar);
  sequence->began = now;
  SequenceDrafting& drafting = sequence->drafting;
  drafting.named = those_that_draft(std::move(start.drafters));
  drafting.order = endpoints_of(drafting.named);
  drafting.draft_nodes_max = start.draft_nodes_max;
  drafting.draft_depth_max = start.draft_depth_max;
  sequence->output.drafted.assign(static_cast<size_t>(output), 0);
  sequence->output.depths = sequence->output.drafted;
  sequence->output.logprobs_from = output;
  sequence->output.prompt = std::move(scores);
  sequence->delivery = {.window = SendWindow(sequence->sendable()), .lease_ends = now + identity.lease};
  links.open(*sequence, sequences, now, effects);
  rounds.begin(*sequence, now, effects);
  sequences.push_back(std::move(sequence));
}

void Verifier::State::finish(VerifierSequence& sequence, Time now, Effects& effects) {
  effects.push_back(how_it_ended(sequence));
  if (sequence.spec.trace.traced()) effects.push_back(span_of(sequence, now));
  rounds.release(sequence, effects);
  sequence.context.forget();
  sequence.grammar.reset();
}

void Verifier::State::end(VerifierSequence& sequence, Time now, Effects& effects) {
  if (sequence.running() && sequence.spec.trace.traced()) effects.push_back(span_of(sequence, now));
  rounds.release(sequence, effects);
  std::erase_if(sequences, [&](const auto& other) { return other.get() == &sequence; });
}

void Verifier::State::on(From<Assign> event, Time now, Effects& effects) {
  Assign& assign = event.message;
  VerifierSequence* sequence = find(event.peer, assign.sequence, assign.epoch);
  if (sequence == nullptr || !sequence->running() || assign.version < sequence->drafting.assignment) {
    ++counters.fenced;
    return;
  }
  SequenceDrafting& drafting = sequence->drafting;
  if (assign.version == drafting.assignment) return;  // it was repeated
  drafting.assignment = assign.version;
  const std::vector<DrafterRef> before = std::exchange(drafting.named, those_that_draft(std::move(assign.drafters)));
  // Another tuning is no reason to leave a drafter that proved good. The next round takes it.
  if (std::ranges::equal(drafting.named, before, &DrafterRef::same_drafter)) return;
  drafting.order = endpoints_of(drafting.named);
  links.open(*sequence, sequences, now, effects);
  rounds.reassign(*sequence, effects);
}

void Verifier::State::on(const From<Ack>& event, Time now, Effects& effects) {
  VerifierSequence* sequence = find(event.peer, event.message.sequence, event.message.epoch);
  const int32_t next = event.message.next_index;
  if (sequence == nullptr && !event.message.finished) {  // its lease ended while its router was unheard: a new epoch may go on
    effects.push_back(To<Tokens>{
        event.peer,
        {.sequence = event.message.sequence, .epoch = event.message.epoch, .first_index = next, .finish = Finish::cancelled}});
  }
  if (sequence == nullptr || next < sequence->delivery.window.acked() || next > sequence->sendable()) {
    ++counters.fenced;
    return;
  }
  acknowledge(*sequence, next, now);
  if (event.message.finished && !sequence->running()) {
    ++counters.sequences_delivered;
    return end(*sequence, now, effects);
  }
  deliver(*sequence, now, effects);
}

void Verifier::State::on(const From<Cancel>& event, Time now, Effects& effects) {
  VerifierSequence* sequence = find(event.peer, event.message.sequence, event.message.epoch);
  if (sequence == nullptr) return;
  ++counters.sequences_cancelled;
  effects.push_back(Note{.text = "is cancelled by its router", .sequence = event.message.sequence, .detail = true});
  end(*sequence, now, effects);
}

}  // namespace slipstream
