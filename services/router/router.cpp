#include "services/router/router.h"

#include <algorithm>
#include <string_view>

#include "common/base/check.h"
#include "common/base/prefix_hash.h"
#include "services/router/assign.h"
#include "services/router/router_state.h"

namespace slipstream {
namespace {

double seconds(Time duration) { return std::chrono::duration<double>(duration).count(); }

uint64_t hash(const Backend& backend, uint64_t tokenizer) {
  uint64_t value = kFnv1aOfNothing;  // only for telling backends apart
  for (char c : backend.numerics_id) value = fnv1a(value, static_cast<uint8_t>(c));
  for (uint64_t word : {backend.weights, tokenizer}) {
    for (int byte = 0; byte < 8; ++byte) value = fnv1a(value, (word >> (8 * byte)) & 0xFF);
  }
  return value;
}

}  // namespace

Router::Router(RouterConfig config) : state_(std::make_unique<State>(std::move(config))) {}
Router::~Router() = default;
const RouterCounters& Router::counters() const { return state_->counters; }

void Router::on(Event event, Time now, std::vector<Effect>& effects) {
  const Time before = std::exchange(state_->now, now);
  state_->effects = &effects;
  state_->look_at_clock(now - before);
  if (state_->admits(event)) std::visit([this](auto&& e) { state_->handle(std::forward<decltype(e)>(e)); }, std::move(event));
  state_->check_drafters();
  state_->set_alarm();
  state_->publish();
}

void Router::State::handle(Submit&& submit) {
  const RequestId id = submit.request;
  CHECK(!requests.contains(id), "request id {} is used twice", id);
  ++counters.submitted;
  if (counters.closing) {
    ++counters.refused;
    effects->push_back(shutting_down(id));
    return;
  }
  if (auto failure = admission.refuse(submit, workers)) {
    ++(failure->status == 429 ? counters.rejected_full : counters.refused);
    effects->push_back(*std::move(failure));
    return;
  }
  counters.prompt_tokens += submit.prompt.size();
  Stream stream(config.fingerprint.vocabulary, submit.spec.top_logprobs.has_value());
  LiveRequest request{.submit = std::move(submit), .stream = std::move(stream), .submitted = now};
  request.prefixes = hash_prefixes(request.submit.prompt);
  request.refusals = Backoff(ms(config.refused_retry_ms), ms(config.refused_retry_most_ms));
  request.waiting_since = request.requeued_since = now;
  requests.emplace(id, std::move(request));
  admission.add(id);
  assign_waiting();
}

void Router::State::handle(const Abandon& abandon) {
  const auto at = requests.find(abandon.request);
  if (at == requests.end()) return;  // it ended meanwhile
  ++(abandon.why == Abandon::Why::stop_string ? counters.stopped
     : abandon.why == Abandon::Why::failed    ? counters.failed
                                              : counters.abandoned);
  cancel(at->second);
  erase(at->second);
}

void Router::State::handle(const Closing& closing) {
  counters.closing = true;
  starts_nothing = closing.now;
  while (closing.now && !requests.empty()) {
    LiveRequest& request = requests.begin()->second;
    ++counters.failed;
    ++counters.cut;
    cancel(request);
    fail(request, shutting_down(request.submit.request));
  }
}

void Router::State::assign_waiting() {
  if (starts_nothing) return;
  for (size_t i = 0; i < admission.queue().size();) {
    LiveRequest& request = requests.at(admission.queue()[i]);
    const auto placement = request.not_before <= now ? pick_verifier(workers, memory, request) : std::nullopt;
    if (placement) {
      start(request, *placement);  // leaves the queue, so that i is the next one
    } else {
      ++i;
    }
  }
}

void Router::State::start(LiveRequest& request, Placement placement) {
  Worker& worker = *workers.find(placement.verifier);
  release(request);
  ++worker.assigned;
  workers_changed = true;
  request.phase = LiveRequest::Phase::starting;
  request.verifier = placement.verifier;
  if (!request.pinned()) {
    const auto left = worker.hello.context_max - static_cast<int32_t>(request.submit.prompt.size());
    request.backend = worker.backend();
    request.output_max = request.submit.spec.output_max > 0 ? request.submit.spec.output_max : left;
  } else {
    ++counters.replays;
  }
  if (++request.epoch == 1) counters.queue_seconds.observe(seconds(now - request.submitted));
  request.stream.begin_epoch();
  request.start_first_sent = now;
  request.repeats = Backoff(ms(config.start_repeat_ms), ms(config.start_repeat_most_ms));
  request.repeat_at = now + request.repeats.next();
  request.acked_again = now - ms(config.ack_repeat_ms);
  request.ack_owed = false;
  request.assignment = 0;
  request.rule = rule_for(request);
  count_rule(request);
  give_drafters(request);
  memory.remember(request.prefixes, placement.verifier);
  ++counters.starts;
  ++(placement.why == Placement::Why::load       ? counters.placed_by_load
     : placement.why == Placement::Why::affinity ? counters.placed_by_affinity
                                                 : counters.moved);
  send_start(request);
}

// The other computes it anew, to the same bits; what this one still sends is of an older epoch.
void Router::State::move(LiveRequest& request, Placement placement) {
  cancel(request);
  if (!finish_if_complete(request)) start(request, placement);
}

void Router::State::send_start(LiveRequest& request) {
  const Submit& submit = request.submit;
  const auto emitted = request.stream.emitted();
  Start start{.sequence = sequence(request),
              .epoch = request.epoch,
              .spec = submit.spec,
              .tokens = submit.prompt,
              .drafters = request.drafters,
              .tuning = tuning_for(request),
              .lease_ms = config.lease_ms};
  start.spec.prompt_length = static_cast<int32_t>(submit.prompt.size());
  start.spec.acceptance = request.rule.ran;
  start.spec.output_max = request.output_max;
  start.tokens.insert(start.tokens.end(), emitted.begin(), emitted.end());
  send(request.verifier, std::move(start));
}

// The request that this message speaks of, if it is the newest epoch and comes from where it runs.
LiveRequest* Router::State::current(Peer peer, const SequenceId& sequence, Epoch epoch) {
  const auto at = requests.find(sequence.counter);
  if (sequence.router != config.incarnation || at == requests.end()) return nullptr;
  LiveRequest& request = at->second;
  const bool fits = request.phase != LiveRequest::Phase::waiting && request.epoch == epoch && request.verifier == peer;
  return fits ? &request : nullptr;
}

void Router::State::handle(const From<Accepted>& from) {
  LiveRequest* request = current(from.peer, from.message.sequence, from.message.epoch);
  if (request == nullptr) {
    ++counters.stale;
    return;
  }
  if (request->phase == LiveRequest::Phase::starting) heard(*request);
}

void Router::State::heard(LiveRequest& request) {
  request.phase = LiveRequest::Phase::running;
  request.refusals.reset();
  request.repeats = Backoff(ms(config.quiet_ms), ms(config.quiet_most_ms));
  request.repeat_at = now + request.repeats.next();
}

void Router::State::handle(const From<Refused>& from) {
  LiveRequest* request = current(from.peer, from.message.sequence, from.message.epoch);
  if (request == nullptr) {
    ++counters.stale;
    return;
  }
  ++counters.starts_refused;
  if (!from.message.retry) {
    ++counters.refused;
    fail(*request, {.status = 400, .code = "refused_by_verifier", .message = from.message.reason});
    return;
  }
  request->refused_by = from.peer;
  request->not_before = now + request->refusals.next();
  to_waiting(*request);
  assign_waiting();
}

void Router::State::handle(const From<Tokens>& from) {
  const Tokens& tokens = from.message;
  LiveRequest* request = current(from.peer, tokens.sequence, tokens.epoch);
  if (request == nullptr) {
    ++counters.stale;  // finished, abandoned or moved: let the verifier forget it
    if (tokens.sequence.router == config.incarnation) send(from.peer, Cancel{tokens.sequence, tokens.epoch});
    return;
  }
  heard(*request);  // its Accepted may be lost
  Stream::Taken taken = request->stream.take(tokens, request->output_max);
  counters.repeated_tokens += static_cast<uint64_t>(taken.repeated);
  if (taken.arrival == Stream::Arrival::invalid) {
    ++counters.invalid_tokens;
    ++counters.failed;
    cancel(*request);
    fail(*request, {.code = "invalid_tokens", .message = "The verifier sent tokens that cannot be: see its log and version."});
    return;
  }
  if (taken.arrival == Stream::Arrival::gap) ++counters.gaps;
  acknowledge(*request, taken.arrival == Stream::Arrival::fresh, taken.finish != Finish::none);
  if (taken.arrival != Stream::Arrival::fresh) return;
  if (taken.finish != Finish::error && taken.finish != Finish::cancelled) return deliver(*request, std::move(taken));

  const Finish finish = std::exchange(taken.finish, Finish::none);
  if (!taken.ids.empty()) deliver(*request, std::move(taken));
  if (finish == Finish::cancelled) {  // the verifier gave it up (a lease ended, a drain): go on elsewhere
    if (finish_if_complete(*request)) return;
    to_waiting(*request);
    return assign_waiting();
  }
  ++counters.failed;
  const bool own_fault = !tokens.field.empty();  // the request's
  fail(*request, {.status = own_fault ? 400 : 500,
                  .code = own_fault ? "no_token_left" : "generation_failed",
                  .message = tokens.reason.empty() ? "The verifier failed." : tokens.reason,
                  .param = tokens.field});
}

// An Ack for nothing new makes the verifier send again, which would bring the next such Ack: those
// are paced, none is left out.
void Router::State::acknowledge(LiveRequest& request, bool fresh, bool finished) {
  request.ack_owed = !fresh && now < request.acked_again + ms(config.ack_repeat_ms);
  if (request.ack_owed) return;
  if (!fresh) request.acked_again = now;
  send(request.verifier, Ack{sequence(request), request.epoch, request.stream.next_index(), finished});
}

void Router::State::deliver(LiveRequest& request, Stream::Taken taken) {
  const auto fresh = taken.ids.size();
  if (fresh > 0) {
    if (request.stream.next_index() == static_cast<int32_t>(fresh)) {
      counters.first_token_seconds.observe(seconds(now - request.submitted));
    } else {
      const double share = seconds(now - request.newest_token) / static_cast<double>(fresh);
      for (size_t i = 0; i < fresh; ++i) counters.between_tokens_seconds.observe(share);
    }
    request.newest_token = now;
  }
  counters.output_tokens += fresh;
  counters.drafted_tokens += static_cast<uint64_t>(std::ranges::count_if(taken.drafted, [](uint8_t d) { return d != 0; }));
  const Finish finish = taken.finish;
  effects->push_back(Delivery{.request = request.submit.request,
                              .ids = std::move(taken.ids),
                              .drafted = std::move(taken.drafted),
                              .depths = std::move(taken.depths),
                              .finish = finish,
                              .report = request.stream.report(),
                              .asked = request.submit.speculation.acceptance,
                              .rule = request.rule,
                              .backend = hash(request.backend, config.fingerprint.tokenizer),
                              .logprobs = std::move(taken.logprobs),
                              .histogram = request.stream.histogram()});
  if (finish == Finish::none) return;
  std::vector<TokenId> whole = request.submit.prompt;  // how the chat's next turn begins
  whole.insert(whole.end(), request.stream.emitted().begin(), request.stream.emitted().end());
  memory.remember(hash_prefixes(whole), request.verifier);
  ++(finish == Finish::stop ? counters.stopped : counters.length);
  counters.request_seconds.observe(seconds(now - request.submitted));
  erase(request);
}

// All tokens are here and only the finish was lost with the verifier: nothing is left to replay.
bool Router::State::finish_if_complete(LiveRequest& request) {
  const auto emitted = request.stream.emitted();
  if (emitted.empty()) return false;
  const std::vector<TokenId>& stop_ids = request.submit.spec.stop_ids;
  const bool stopped = std::ranges::find(stop_ids, emitted.back()) != stop_ids.end();
  if (!stopped && request.stream.next_index() < request.output_max) return false;
  deliver(request, {.finish = stopped ? Finish::stop : Finish::length});
  return true;
}

void Router::State::fail(LiveRequest& request, Failure failure) {
  failure.request = request.submit.request;
  if (failure.status >= 500) {
    ++failures_unsaid;
    newest_failure = failure.message;
  }
  effects->push_back(std::move(failure));
  erase(request);
}

void Router::State::release(LiveRequest& request) {
  if (request.phase == LiveRequest::Phase::waiting) {
    admission.remove(request.submit.request);
  } else if (Worker* worker = workers.find(request.verifier)) {
    --worker->assigned;
    workers_changed = true;
  }
  take_drafters(request);
}

void Router::State::erase(LiveRequest& request) {
  release(request);
  requests.erase(request.submit.request);
  assign_waiting();
}

void Router::State::to_waiting(LiveRequest& request) {
  release(request);
  if (request.phase == LiveRequest::Phase::running) request.waiting_since = now;
  request.requeued_since = now;
  request.phase = LiveRequest::Phase::waiting;
  admission.add_front(request.submit.request);
}

void Router::State::cancel(const LiveRequest& request) {
  if (request.phase != LiveRequest::Phase::waiting) send(request.verifier, Cancel{sequence(request), request.epoch});
}

}  // namespace slipstream
