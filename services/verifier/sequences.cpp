// The life of a sequence at the verifier: Start, Assign, Ack, Cancel, and its end.
#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include <fmt/format.h>

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

bool Verifier::State::known(const From<Start>& event, Time now, Effects& effects) {
  const Start& start = event.message;
  const auto fenced = [&](Peer router, Epoch epoch) {
    const bool old = epoch > start.epoch || router != event.peer;
    counters.fenced += old ? 1 : 0;
    return old;
  };
  const auto waits =
      std::ranges::find(starts, start.sequence, [](const From<Start>& waiting) { return waiting.message.sequence; });
  if (waits != starts.end()) {
    if (fenced(waits->peer, waits->message.epoch) || waits->message.epoch == start.epoch) return true;
    ++counters.sequences_replaced;
    starts.erase(waits);
  }
  const auto same =
      std::ranges::find_if(sequences, [&](const auto& sequence) { return sequence->identity.id == start.sequence; });
  if (same == sequences.end()) return false;
  const SequenceIdentity& identity = (*same)->identity;
  if (fenced(identity.router, identity.epoch)) return true;
  if (identity.epoch == start.epoch) {  // a Start is repeated until it is answered
    effects.push_back(To<Accepted>{event.peer, {start.sequence, start.epoch}});
    return true;
  }
  ++counters.sequences_replaced;
  end(**same, now, effects);
  return false;
}

int64_t Verifier::State::reporting() const {
  return std::ranges::count_if(sequences, [](const auto& sequence) { return sequence->spec.trees > 0; }) +
         std::ranges::count_if(starts, [](const From<Start>& start) { return start.message.spec.trees > 0; });
}

void Verifier::State::on(From<Start> event, Time now, Effects& effects) {
  if (known(event, now, effects)) return;
  const GrammarText& grammar = event.message.spec.grammar;
  auto refused = why_not(event.message, config);
  if (!refused && worker.draining()) refused = NotAdmitted{"this verifier is leaving", true};
  if (!refused && sequences.size() + starts.size() >= static_cast<size_t>(config.sequences_max)) {
    refused = NotAdmitted{"all sequence slots are taken", true};
  }
  if (!refused && !grammar.empty() && !grammars) {
    refused = NotAdmitted{"this verifier has no tokenizer to compile a grammar with", false};
  }
  if (refused) return refuse(event, *refused, effects);
  if (reporting() >= kReportingSequencesMax) event.message.spec.trees = 0;
  if (grammar.empty()) return admit(std::move(event), nullptr, now, effects);
  if (auto known = grammars->find(grammar)) return begin(std::move(event), *known, now, effects);
  const auto text = [](const From<Start>& waiting) -> const GrammarText& { return waiting.message.spec.grammar; };
  const bool under_way = std::ranges::find(starts, grammar, text) != starts.end();
  if (!under_way) effects.push_back(CompileGrammar{grammar, event.message.spec.tenant});
  starts.push_back(std::move(event));
}

void Verifier::State::on(GrammarCompiled event, Time now, Effects& effects) {
  const auto other = [&](const From<Start>& start) { return start.message.spec.grammar != event.text; };
  const auto rest = std::ranges::stable_partition(starts, other);
  std::vector<From<Start>> starters(std::move_iterator(rest.begin()), std::move_iterator(rest.end()));
  starts.erase(rest.begin(), rest.end());
  grammars->keep(event.text, event.grammar);
  for (From<Start>& start : starters) {
    if (event.grammar && worker.draining()) {
      refuse(start, {.reason = "this verifier is leaving", .retry = true}, effects);
    } else {
      begin(std::move(start), event.grammar, now, effects);
    }
  }
}

void Verifier::State::begin(From<Start> event, const GrammarCache::Compiled& grammar, Time now, Effects& effects) {
  if (grammar) return admit(std::move(event), *grammar, now, effects);
  refuse(event, {.reason = grammar.error().message, .retry = !grammar.error().lasting}, effects);
}

void Verifier::State::refuse(const From<Start>& event, const NotAdmitted& why, Effects& effects) {
  const Start& start = event.message;
  ++counters.sequences_refused;
  effects.push_back(Note{.text = "refused: " + why.reason, .sequence = start.sequence, .detail = true});
  effects.push_back(To<Refused>{event.peer, {start.sequence, start.epoch, why.reason, why.retry}});
}

void Verifier::State::admit(From<Start> event, std::shared_ptr<const Grammar> grammar, Time now, Effects& effects) {
  Start& start = event.message;
  effects.push_back(To<Accepted>{event.peer, {start.sequence, start.epoch}});
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
                                  .router = event.peer,
                                  .lease = std::chrono::milliseconds(start.lease_ms)};
  auto sequence = std::make_unique<VerifierSequence>(identity, std::move(start.spec), std::move(context), counters.fates);
  sequence->began = now;
  if (grammar != nullptr) {
    sequence->grammar.emplace(std::move(grammar), sequence->spec.stop_ids);
    if (output > 0) follow_beside(*sequence, std::span(sequence->context.tokens()).last(static_cast<size_t>(output)), effects);
  }
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
  const auto& [id, epoch] = event.message;
  const size_t waited = std::erase_if(starts, [&](const From<Start>& start) {
    return start.peer == event.peer && start.message.sequence == id && start.message.epoch == epoch;
  });
  counters.sequences_cancelled += waited;
  VerifierSequence* sequence = find(event.peer, id, epoch);
  if (sequence == nullptr) return;
  ++counters.sequences_cancelled;
  effects.push_back(Note{.text = "is cancelled by its router", .sequence = event.message.sequence, .detail = true});
  end(*sequence, now, effects);
}

}  // namespace slipstream
