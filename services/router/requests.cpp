// One request at a time: it is admitted, starts at a verifier, runs, and ends. Its failover to
// another verifier is in failover.cpp.
#include <algorithm>
#include <utility>

#include "common/base/check.h"
#include "common/base/grammar_text.h"
#include "common/base/prefix_hash.h"
#include "common/base/sequence_name.h"
#include "services/router/router_state.h"

namespace slipstream {
namespace {

double seconds(Time duration) { return std::chrono::duration<double>(duration).count(); }

// Tells backends apart for clients, which compare the values of two answers.
uint64_t hash(const Backend& backend, uint64_t tokenizer) {
  uint64_t value = kFnv1aOfNothing;
  for (char c : backend.numerics_id) value = fnv1a(value, static_cast<uint8_t>(c));
  for (uint64_t word : {backend.weights, tokenizer}) {
    for (int byte = 0; byte < 8; ++byte) value = fnv1a(value, (word >> (8 * byte)) & 0xFF);
  }
  return value;
}

// A verifier that ends a sequence with an error names the field of the request that is at fault, if
// one is.
Failure failure_of(const Tokens& tokens) {
  const bool of_request = !tokens.field.empty();
  return {.status = of_request ? 400 : 500,
          .code = !of_request                     ? "generation_failed"
                  : tokens.field == kGrammarField ? "grammar_too_complex"
                                                  : "no_token_left",
          .message = tokens.reason.empty() ? "The verifier failed." : tokens.reason,
          .param = tokens.field};
}

}  // namespace

void Router::State::on(Submit&& submit, Time now, Effects& effects) {
  const RequestId id = submit.request;
  CHECK(!requests.contains(id), "request id {} is used twice", id);
  ++counters.submitted;
  if (counters.closing && !submit.came_in_time) {
    ++counters.refused;
    effects.push_back(shutting_down(id));
    return;
  }
  if (auto failure = admission.refuse(submit, workers)) {
    ++(failure->status != 429          ? counters.refused
       : failure->code == "queue_full" ? counters.rejected_full
                                       : counters.overloaded);
    effects.push_back(*std::move(failure));
    return;
  }
  counters.prompt_tokens += submit.prompt.size();
  auto prefixes = hash_prefixes(submit.prompt, submit.spec.tenant);
  const int32_t scored = submit.spec.prompt_logprobs ? static_cast<int32_t>(submit.prompt.size()) - 1 : 0;
  ReceivedTokens received(config.fingerprint.vocabulary, submit.spec.top_logprobs.has_value(), scored, submit.spec.trees);
  const Time waits_since = now - submit.waited;
  requests.emplace(id, LiveRequest{.submit = std::move(submit),
                                   .prefixes = std::move(prefixes),
                                   .submitted = now,
                                   .received = std::move(received),
                                   .phase = Waiting{.since = waits_since, .no_verifier_since = now},
                                   .refusals = Backoff(ms(config.refused_retry_ms), ms(config.refused_retry_most_ms))});
  admission.add(requests.at(id).submit);
  start_waiting(now, effects);
}

void Router::State::on(const Abandon& abandon, Time now, Effects& effects) {
  const auto at = requests.find(abandon.request);
  if (at == requests.end()) return;  // it has ended meanwhile
  ++(abandon.why == Abandon::Why::stop_string ? counters.stopped
     : abandon.why == Abandon::Why::failed    ? counters.failed
                                              : counters.abandoned);
  cancel(at->second, effects);
  erase(at->second, abandon.why == Abandon::Why::stop_string ? "stop" : "abandoned", now, effects);
}

void Router::State::on(const Closing& closing, Time now, Effects& effects) {
  counters.closing = true;
  starts_nothing = closing.now;
  while (closing.now && !requests.empty()) {
    LiveRequest& request = requests.begin()->second;
    ++counters.failed;
    ++counters.cut;
    cancel(request, effects);
    fail(request, shutting_down(request.submit.request), now, effects);
  }
}

void Router::State::start_waiting(Time now, Effects& effects) {
  if (starts_nothing) return;
  for (size_t i = 0; i < admission.queue().size();) {
    LiveRequest& request = requests.at(admission.queue()[i]);
    const bool pauses = std::get<Waiting>(request.phase).not_before > now;
    const auto placement = pauses ? std::nullopt : pick_verifier(workers, memory, request);
    if (placement) {
      start(request, *placement, now, effects);  // leaves the queue, so that i is the next one
    } else {
      ++i;
    }
  }
}

// The request waits, or moves here from another verifier.
void Router::State::start(LiveRequest& request, Placement placement, Time now, Effects& effects) {
  KnownWorker& worker = *workers.find(placement.verifier);
  const Time waiting_since = request.idle_since(now);
  if (request.waits()) admission.serve(request.submit.request);
  release(request);
  ++worker.assigned;
  loads_changed = true;
  if (!request.pinned()) {
    const auto left = worker.hello.context_max - static_cast<int32_t>(request.submit.prompt.size());
    request.backend = worker.backend();
    request.output_max = request.submit.spec.output_max > 0 ? request.submit.spec.output_max : left;
  } else {
    ++counters.replays;
    request.may_differ = request.may_differ || worker.hello.rows_vary;
  }
  if (++request.epoch == 1) counters.queue_seconds.observe(seconds(now - request.submitted));
  request.received.begin_epoch();

  auto& starting = request.phase.emplace<Starting>();
  starting.verifier = placement.verifier;
  starting.first_sent = now;
  starting.waiting_since = waiting_since;
  starting.repeats = Backoff(ms(config.start_repeat_ms), ms(config.start_repeat_most_ms));
  starting.repeat_at = now + starting.repeats.next();
  starting.acked_again = now - ms(config.ack_repeat_ms);
  starting.rule = drafter_choice.rule_for(request);
  starting.prefill_tokens = static_cast<int32_t>(request.submit.prompt.size() + request.received.emitted().size());
  admission.begin_prefill(starting.prefill_tokens);
  count_rule(request);
  give_drafters(request);
  memory.remember(request.prefixes, placement.verifier);
  ++counters.starts;
  ++(placement.why == Placement::Why::load       ? counters.placed_by_load
     : placement.why == Placement::Why::affinity ? counters.placed_by_affinity
                                                 : counters.moved);
  send_start(request, effects);
  traced(request, fmt::format("goes to verifier {:016x}", worker.hello.incarnation), now);
  effects.push_back(Note{.text = fmt::format("goes to verifier {:016x}, epoch {}", worker.hello.incarnation, request.epoch),
                         .sequence = sequence(request),
                         .detail = true});
}

void Router::State::send_start(const LiveRequest& request, Effects& effects) {
  const AtVerifier& at = request.at_verifier();
  const Submit& submit = request.submit;
  const Speculation& speculation = submit.speculation;
  const auto emitted = request.received.emitted();
  Start start{.sequence = sequence(request),
              .epoch = request.epoch,
              .spec = submit.spec,
              .tokens = submit.prompt,
              .drafters = at.drafters,
              .draft_nodes_max = speculation.enabled ? std::min(config.tuning.nodes_max, speculation.nodes_max) : uint16_t{0},
              .draft_depth_max = std::min(config.tuning.depth_max, speculation.depth_max),
              .scored = static_cast<int32_t>(submit.prompt.size()) - request.received.unscored(),
              .lease_ms = config.lease_ms};
  start.spec.prompt_length = static_cast<int32_t>(submit.prompt.size());
  start.spec.acceptance = at.rule.ran;
  start.spec.output_max = request.output_max;
  if (submit.spec.trace.traced()) start.spec.trace.parent = span_of(request);
  start.tokens.insert(start.tokens.end(), emitted.begin(), emitted.end());
  send(at.verifier, std::move(start), effects);
}

LiveRequest* Router::State::current(Peer peer, const SequenceId& sequence, Epoch epoch) {
  const auto at = requests.find(sequence.counter);
  if (sequence.router != config.incarnation || at == requests.end()) return nullptr;
  LiveRequest& request = at->second;
  return request.epoch == epoch && request.is_at(peer) ? &request : nullptr;
}

void Router::State::on(const From<Accepted>& event, Time now, Effects& effects) {
  LiveRequest* request = current(event.peer, event.message.sequence, event.message.epoch);
  if (request == nullptr) {
    ++counters.stale;
    return;
  }
  if (request->runs()) return;
  confirm(*request, now);
  if (!request->told) still_here(*request, now, effects);
}

void Router::State::still_here(LiveRequest& request, Time now, Effects& effects) {
  request.told = now;
  effects.push_back(StillHere{request.submit.request});
}

// From here on silence means that the sequence is quiet, no longer that its Start was lost.
void Router::State::confirm(LiveRequest& request, Time now) {
  if (auto* starting = std::get_if<Starting>(&request.phase)) {
    AtVerifier at = std::move(*starting);
    request.phase = Running{std::move(at)};
  }
  request.refusals.reset();
  AtVerifier& at = request.at_verifier();
  at.repeats = Backoff(ms(config.quiet_ms), ms(config.quiet_most_ms));
  at.repeat_at = now + at.repeats.next();
}

void Router::State::on(const From<Refused>& event, Time now, Effects& effects) {
  LiveRequest* request = current(event.peer, event.message.sequence, event.message.epoch);
  if (request == nullptr) {
    ++counters.stale;
    return;
  }
  ++counters.starts_refused;
  if (!event.message.retry) {
    ++counters.refused;
    fail(*request, {.status = 400, .code = "refused_by_verifier", .message = event.message.reason}, now, effects);
    return;
  }
  request->refused_by = event.peer;
  const Time not_before = now + request->refusals.next();
  to_waiting(*request, {.since = request->idle_since(now), .no_verifier_since = now, .not_before = not_before});
  start_waiting(now, effects);
}

void Router::State::on(const From<Tokens>& event, Time now, Effects& effects) {
  const Tokens& tokens = event.message;
  LiveRequest* request = current(event.peer, tokens.sequence, tokens.epoch);
  if (request == nullptr) {
    ++counters.stale;  // it has finished, was abandoned or has moved: the verifier shall forget it
    if (tokens.sequence.router == config.incarnation) send(event.peer, Cancel{tokens.sequence, tokens.epoch}, effects);
    return;
  }
  confirm(*request, now);  // its Accepted may be lost
  ReceivedTokens::Taken taken = request->received.take(tokens, request->output_max);
  counters.repeated_tokens += static_cast<uint64_t>(taken.repeated);
  if (taken.arrival == ReceivedTokens::Arrival::invalid) {
    ++counters.invalid_tokens;
    ++counters.failed;
    cancel(*request, effects);
    fail(*request, {.code = "invalid_tokens", .message = "The verifier sent tokens that cannot be: see its log and version."},
         now, effects);
    return;
  }
  if (taken.arrival == ReceivedTokens::Arrival::gap) ++counters.gaps;
  acknowledge(*request, taken, now, effects);
  if (taken.arrival != ReceivedTokens::Arrival::fresh) return;
  if (taken.finish != Finish::error && taken.finish != Finish::cancelled) {
    return deliver(*request, std::move(taken), now, effects);
  }
  const Finish finish = std::exchange(taken.finish, Finish::none);
  if (!taken.empty()) deliver(*request, std::move(taken), now, effects);
  // A fault of the request itself names its field, or comes again at another verifier.
  const bool its_fault = tokens.field.empty() && !request->failed_once;
  if (finish == Finish::error && its_fault) workers.step_failed(request->at_verifier().verifier, now);
  if (finish == Finish::error && !goes_on_elsewhere(*request, tokens)) {
    ++counters.failed;
    return fail(*request, failure_of(tokens), now, effects);
  }
  if (finish == Finish::error) {
    effects.push_back(Note{.text = fmt::format("a verifier failed it: {}; another verifier goes on with it", tokens.reason),
                           .warning = true,
                           .sequence = sequence(*request)});
  }
  // The verifier gave the sequence up: its step failed, the lease ended, or the verifier drains.
  // Another verifier goes on.
  if (finish_if_complete(*request, now, effects)) return;
  to_waiting(*request, {.since = now, .no_verifier_since = now});
  start_waiting(now, effects);
}

// An Ack for nothing new makes the verifier send again, which would bring the next such Ack. Those
// are therefore paced. None is left out: one that comes too early is sent later.
void Router::State::acknowledge(LiveRequest& request, const ReceivedTokens::Taken& taken, Time now, Effects& effects) {
  AtVerifier& at = request.at_verifier();
  const bool fresh = taken.arrival == ReceivedTokens::Arrival::fresh;
  at.ack_owed = !fresh && now < at.acked_again + ms(config.ack_repeat_ms);
  if (at.ack_owed) return;
  if (!fresh) at.acked_again = now;
  const bool finished = taken.finish != Finish::none;
  send(at.verifier, Ack{sequence(request), request.epoch, request.received.next_index(), finished}, effects);
}

void Router::State::deliver(LiveRequest& request, ReceivedTokens::Taken taken, Time now, Effects& effects) {
  const auto fresh = taken.ids.size();
  if (!taken.prompt_logprobs.empty()) request.newest_token = now;
  if (fresh > 0) {
    if (request.received.next_index() == static_cast<int32_t>(fresh)) {
      counters.first_token_seconds.observe(seconds(now - request.submitted));
      traced(request, "first token", now);
    } else {
      const double share = seconds(now - request.newest_token) / static_cast<double>(fresh);
      for (size_t i = 0; i < fresh; ++i) counters.between_tokens_seconds.observe(share);
    }
    request.newest_token = now;
    request.told = now;
    admission.end_prefill(std::exchange(request.at_verifier().prefill_tokens, 0), true);
  }
  counters.output_tokens += fresh;
  counters.drafted_tokens += static_cast<uint64_t>(std::ranges::count_if(taken.drafted, [](uint8_t d) { return d != 0; }));
  const Finish finish = taken.finish;
  effects.push_back(Delivery{.request = request.submit.request,
                             .ids = std::move(taken.ids),
                             .drafted = std::move(taken.drafted),
                             .depths = std::move(taken.depths),
                             .finish = finish,
                             .report = request.received.report(),
                             .asked = request.submit.speculation.acceptance,
                             .rule = request.at_verifier().rule,
                             .backend = hash(request.backend, config.fingerprint.tokenizer),
                             .may_differ = request.may_differ,
                             .logprobs = std::move(taken.logprobs),
                             .prompt_logprobs = std::move(taken.prompt_logprobs),
                             .trees = std::move(taken.trees),
                             .histogram = request.received.histogram()});
  if (finish == Finish::none) return;
  std::vector<TokenId> whole = request.submit.prompt;  // the chat's next turn begins with prompt and answer
  whole.insert(whole.end(), request.received.emitted().begin(), request.received.emitted().end());
  memory.remember(hash_prefixes(whole, request.submit.spec.tenant), request.at_verifier().verifier);
  ++(finish == Finish::stop ? counters.stopped : counters.length);
  counters.request_seconds.observe(seconds(now - request.submitted));
  erase(request, finish == Finish::stop ? "stop" : "length", now, effects);
}

void Router::State::fail(LiveRequest& request, Failure failure, Time now, Effects& effects) {
  failure.request = request.submit.request;
  if (failure.status >= 500) {
    ++failures_not_logged;
    newest_failure = failure.message;
  }
  const std::string code = failure.code;
  effects.push_back(std::move(failure));
  erase(request, code, now, effects);
}

void Router::State::release(LiveRequest& request) {
  if (request.waits()) return admission.remove(request.submit.request);
  admission.end_prefill(std::exchange(request.at_verifier().prefill_tokens, 0), false);
  if (KnownWorker* worker = workers.find(request.at_verifier().verifier)) {
    --worker->assigned;
    loads_changed = true;
  }
  take_drafters(request);
}

void Router::State::erase(LiveRequest& request, std::string_view outcome, Time now, Effects& effects) {
  const ReceivedTokens& received = request.received;
  if (request.submit.spec.trace.traced()) effects.push_back(span(request, outcome, now));
  if (received.any()) counters.speculation.add(received.report(), received.histogram(), request.submit.prompt.size());
  if (!request.waits()) admission.freed();
  release(request);
  requests.erase(request.submit.request);
  start_waiting(now, effects);
}

uint64_t Router::State::span_of(const LiveRequest& request) const {
  return span_id("request", request.submit.spec.trace, sequence(request), 0);
}

Span Router::State::span(LiveRequest& request, std::string_view outcome, Time now) const {
  const SpeculationReport& report = request.received.report();
  const bool well = outcome == "stop" || outcome == "length" || outcome == "abandoned";
  return {.trace = request.submit.spec.trace,
          .id = span_of(request),
          .name = "request",
          .serves = true,
          .begin = request.submitted,
          .end = now,
          .attributes = {{"slipstream.sequence", sequence_name(sequence(request))},
                         {"slipstream.outcome", std::string(outcome)},
                         {"slipstream.epochs", int64_t{request.epoch}},
                         {"slipstream.draft.accepted_nodes", int64_t{report.accepted}},
                         {"gen_ai.usage.input_tokens", static_cast<int64_t>(request.submit.prompt.size())},
                         {"gen_ai.usage.output_tokens", static_cast<int64_t>(request.received.emitted().size())}},
          .events = std::move(request.events),
          .error = well ? "" : std::string(outcome)};
}

void Router::State::traced(LiveRequest& request, std::string event, Time now) {
  if (request.submit.spec.trace.traced()) request.events.push_back({std::move(event), now});
}

void Router::State::cancel(const LiveRequest& request, Effects& effects) {
  if (!request.waits()) send(request.at_verifier().verifier, Cancel{sequence(request), request.epoch}, effects);
}

std::vector<RequestId> Router::State::request_ids() const {
  std::vector<RequestId> ids;
  for (const auto& [id, request] : requests) ids.push_back(id);
  return ids;
}

}  // namespace slipstream
