// Workers come, fall silent, leave and die; what they worked on goes on elsewhere.
#include <algorithm>
#include <optional>
#include <ranges>

#include <fmt/format.h>

#include "common/base/names.h"
#include "services/router/assign.h"
#include "services/router/router_state.h"

namespace slipstream {
namespace {

constexpr size_t kPeersRememberedMax = 1024;

std::string name_of(const Hello& hello) {
  return fmt::format("{} {:016x}", hello.role == Role::verifier ? "verifier" : "drafter", hello.incarnation);
}
std::string name_of(const Worker& worker) { return name_of(worker.hello); }

// How a line goes on that says that a worker can work no more.
std::string and_its_requests(int32_t assigned) {
  if (assigned == 0) return "";
  return assigned == 1 ? ", its 1 request goes on without it" : fmt::format(", its {} requests go on without it", assigned);
}

// Of one that leaves and had so many requests.
std::string moved_of(const Worker& worker, int32_t before) {
  if (before == 0) return "";
  if (worker.hello.role == Role::drafter) return fmt::format(", {} get other drafters if there are any", before);
  return fmt::format(", {} of its {} requests move to other verifiers, {} end there", before - worker.assigned, before,
                     worker.assigned);
}

// A key is enrolled for one role, and a drafter speaks behind its own key only.
std::optional<std::string> why_not(const Hello& hello, const std::string& key) {
  const bool verifier = hello.role == Role::verifier;
  if (!key_is_of(key, verifier ? "verifier" : "drafter")) {
    return fmt::format("the key {} is not that of a {}: start this process with one of its own", key,
                       verifier ? "verifier" : "drafter");
  }
  if (verifier || hello.draft_endpoint.ends_with("#" + key)) return std::nullopt;
  return fmt::format("the draft endpoint {} does not name the key {} that this process has", hello.draft_endpoint, key);
}

}  // namespace

bool Router::State::admits(const Event& event) {
  const auto peer = std::visit(
      [](const auto& e) -> std::optional<Peer> {
        if constexpr (requires { e.message; }) return e.peer;
        return std::nullopt;
      },
      event);
  if (!peer) return true;
  if (const auto at = strikes.find(*peer); at != strikes.end() && at->second >= kStrikesMax) return false;
  if (Worker* worker = workers.find(*peer)) {  // whatever it says, it lives
    worker->heard = now;
    if (std::exchange(worker->silent, false)) {
      workers_changed = drafters_changed = true;
      note(fmt::format("{} is heard again", name_of(*worker)));
    }
  }
  return true;
}

void Router::State::handle(const Malformed& malformed) {
  ++counters.malformed;
  if (strikes.size() >= kPeersRememberedMax && !strikes.contains(malformed.peer)) strikes.clear();
  if (++strikes[malformed.peer] != kStrikesMax) return;
  ++counters.quarantined;
  warn(fmt::format("cut off worker {:016x} after {} malformed messages, the last: {}", incarnation_of(malformed.peer),
                   kStrikesMax, malformed.why));
  effects->push_back(Disconnect{malformed.peer});
  lose_worker(malformed.peer);
}

void Router::State::handle(const PeerUp& up) {
  if (!up.key.empty()) keys[up.peer] = up.key;
}

void Router::State::handle(const PeerDown& down) {
  keys.erase(down.peer);
  strikes.erase(down.peer);
  workers_changed |= refusals.erase(down.peer) > 0;
  lose_worker(down.peer);
}

void Router::State::handle(From<Hello>&& from) {
  const bool joins = workers.find(from.peer) == nullptr;
  const Hello hello = from.message;
  const uint64_t weights = workers.served_weights();
  if (const auto key = keys.find(from.peer); key != keys.end()) {
    if (auto lie = why_not(from.message, key->second)) {
      refuse(from.peer, hello, *std::move(lie));
      return lose_worker(from.peer);
    }
  }
  if (auto welcome = workers.welcome(from.peer, std::move(from.message), now); !welcome) {
    refuse(from.peer, hello, std::move(welcome.error().message));
    lose_worker(from.peer);
    return;
  }
  workers_changed = drafters_changed = true;
  refusals.erase(from.peer);
  if (joins) note(fmt::format("{} joined{}", name_of(hello), hello.pid > 0 ? fmt::format(", pid {}", hello.pid) : ""));
  if (weights != 0 && weights != workers.served_weights()) {
    warn(
        fmt::format("{} has other weights ({:016x}) than the verifiers before it ({:016x}), of which none is left: from now on "
                    "another model answers. If that is not meant, stop it",
                    name_of(hello), workers.served_weights(), weights));
  }
  send(from.peer, Welcome{kProtocolVersion, config.incarnation, config.heartbeat_ms});
  assign_waiting();
}

void Router::State::refuse(Peer peer, const Hello& hello, std::string reason) {
  ++counters.workers_refused;
  if (refusals.size() >= kPeersRememberedMax && !refusals.contains(peer)) refusals.clear();
  if (refusals[peer].reason != reason) warn(fmt::format("refused {}: {}", name_of(hello), reason));
  refusals[peer] = {.role = hello.role, .incarnation = hello.incarnation, .pid = hello.pid, .reason = reason};
  workers_changed = true;
  send(peer, Refuse{std::move(reason)});
}

void Router::State::handle(const From<WorkerHeartbeat>& from) {
  Worker* worker = workers.find(from.peer);
  if (worker == nullptr) {  // forgotten while it hung, or it means this router's life before: it must say Hello
    ++counters.strangers;
    send(from.peer, Refuse{"this router does not know you, or has forgotten you: say Hello again"});
    return;
  }
  const bool was_stuck = worker->stuck;
  workers.heartbeat(*worker, from.message, now);
  workers_changed = true;
  if (was_stuck && !worker->stuck) note(fmt::format("{} ends steps again", name_of(*worker)));
}

// It finishes what it has, but whatever another verifier can go on with moves there now: a drain
// must not wait for long answers.
void Router::State::handle(const From<Leaving>& from) {
  Worker* worker = workers.find(from.peer);
  if (worker == nullptr) {
    ++counters.strangers;
    return;
  }
  const bool news = !std::exchange(worker->leaving, true);
  const int32_t before = worker->assigned;
  worker->why_leaving = from.message.reason;
  workers_changed = drafters_changed = true;
  for (RequestId id : request_ids()) {
    const auto at = requests.find(id);
    if (at == requests.end() || at->second.phase == LiveRequest::Phase::waiting || at->second.verifier != from.peer) continue;
    if (const auto other = pick_verifier(workers, memory, at->second)) move(at->second, *other);
  }
  if (news) note(fmt::format("{} leaves{}: {}", name_of(*worker), moved_of(*worker, before), from.message.reason));
}

void Router::State::lose_worker(Peer peer) {
  Worker* worker = workers.find(peer);
  if (worker == nullptr) return;
  note(fmt::format("{} is gone{}", name_of(*worker), and_its_requests(worker->assigned)));
  worker->leaving = true;  // nothing of what is stranded may come back to it
  ++counters.workers_lost;
  workers_changed = drafters_changed = true;
  requeue(peer);
  memory.forget(peer);
  rebalance.forget(peer);
  workers.remove(peer);
  assign_waiting();
}

void Router::State::requeue(Peer peer) {
  std::vector<RequestId> lost;
  for (const auto& [id, request] : requests) {
    if (request.phase != LiveRequest::Phase::waiting && request.verifier == peer) lost.push_back(id);
  }
  for (RequestId id : std::views::reverse(lost)) {  // each goes to the head of the queue: the oldest is first again
    LiveRequest& request = requests.at(id);
    cancel(request);  // should it still live
    if (finish_if_complete(request)) continue;
    request.waiting_since = now;
    request.not_before = {};
    to_waiting(request);
  }
}

void Router::State::handle(const Woke&) {
  alarm.reset();
  look_at_workers();
  look_at_requests();
  assign_waiting();
  look_at_balance();
  tell_failures();
}

// Whoever was frozen itself (a stopped process, a suspended machine) has heard nobody, and blames
// nobody for it.
void Router::State::look_at_clock(Time since_last_event) {
  if (workers.all().empty() || since_last_event < ms(config.worker_silent_ms) / 2) return;
  warn(fmt::format("this router did not run for {} ms: it was stopped, or the machine was",
                   std::chrono::duration_cast<std::chrono::milliseconds>(since_last_event).count()));
  for (auto& [peer, worker] : workers.all()) worker.heard = std::max(worker.heard, now);
}

void Router::State::tell_failures() {
  if (failures_unsaid == 0 || now < tell_failures_at) return;
  tell_failures_at = now + kBetweenFailureLines;
  const uint64_t count = std::exchange(failures_unsaid, 0);
  warn(fmt::format("{} failed, the last because: {}", count == 1 ? "1 request" : fmt::format("{} requests", count),
                   newest_failure));
}

void Router::State::look_at_workers() {
  for (Peer peer : workers.find_silent(now)) {
    ++counters.workers_silenced;
    const Worker& worker = workers.all().at(peer);
    warn(fmt::format("{} has been silent for {} ms{}", name_of(worker), config.worker_silent_ms,
                     and_its_requests(worker.assigned)));
    workers_changed = drafters_changed = true;
    requeue(peer);
  }
  for (Peer peer : workers.find_stuck(now)) {
    ++counters.workers_stuck;
    const Worker& worker = workers.all().at(peer);
    warn(fmt::format("{} heartbeats, but has ended no step for {} ms{}: look at its log, or restart it", name_of(worker),
                     config.verifier_stuck_ms, and_its_requests(worker.assigned)));
    workers_changed = true;
    requeue(peer);
  }
  for (Peer peer : workers.find_forgotten(now)) lose_worker(peer);
  if (now < next_heartbeat) return;
  next_heartbeat = now + ms(config.heartbeat_ms);
  for (const auto& [peer, worker] : workers.all()) send(peer, RouterHeartbeat{config.incarnation});
}

std::vector<RequestId> Router::State::request_ids() const {
  std::vector<RequestId> ids;
  for (const auto& [id, request] : requests) ids.push_back(id);
  return ids;
}

// Live requests go on where there is much less to do.
void Router::State::look_at_balance() {
  while (const auto due = rebalance.next(workers, requests, now)) {
    LiveRequest& request = requests.at(due->request);
    request.moved = now;
    request.came_from = request.verifier;
    move(request, {.verifier = due->to, .why = Placement::Why::rebalance});
  }
}

void Router::State::look_at_requests() {
  for (RequestId id : request_ids()) {
    if (const auto at = requests.find(id); at != requests.end()) look_at(at->second);
  }
}

void Router::State::look_at(LiveRequest& request) {
  switch (request.phase) {
    case LiveRequest::Phase::waiting:
      return look_at_waiting(request);
    case LiveRequest::Phase::starting:
      if (now - request.start_first_sent >= ms(std::min(config.start_give_up_ms, config.lease_ms))) {
        cancel(request);
        request.refused_by = request.verifier;
        return to_waiting(request);
      }
      break;
    case LiveRequest::Phase::running:
      if (now - request.waited_from() >= ms(config.no_token_ms)) {
        ++counters.failed;
        cancel(request);
        return fail(request, {.code = "no_token", .message = "The verifier has sent no token for too long."});
      }
      break;
  }
  if (request.ack_owed) acknowledge(request, false, false);
  if (request.assignment > 0 && now - request.assign_sent >= ms(config.assign_repeat_ms)) send_assign(request);
  if (now < request.repeat_at) return;
  request.repeat_at = now + request.repeats.next();
  // Not a Start once tokens are here: of a verifier that has freed the sequence it would be a
  // second life in the same epoch, whose rounds, and so their noise, were there before. An Ack asks
  // whether it has it.
  if (request.phase == LiveRequest::Phase::running) {
    ++counters.quiet;
    return send(request.verifier, Ack{sequence(request), request.epoch, request.stream.next_index(), false});
  }
  ++counters.starts_repeated;
  send_start(request);
}

void Router::State::look_at_waiting(LiveRequest& request) {
  const auto serves = [&request](const auto& entry) { return can_serve(entry.second, request); };
  if (std::ranges::any_of(workers.all(), serves)) request.requeued_since = now;
  if (auto failure = admission.expire(request, workers, now)) {
    ++counters.waited_too_long;
    fail(request, *std::move(failure));
  }
}

void Router::State::set_alarm() {
  const bool soon = std::ranges::any_of(
      requests, [](const auto& entry) { return entry.second.phase != LiveRequest::Phase::running || entry.second.ack_owed; });
  const Time next = soon ? std::min(next_heartbeat, now + ms(config.tick_ms)) : next_heartbeat;
  if (alarm && *alarm <= std::max(next, now)) return;
  alarm = next;
  effects->push_back(WakeAt{next});
}

void Router::State::publish() {
  counters.waiting = admission.queue().size();
  counters.live = requests.size() - admission.queue().size();
  if (!std::exchange(workers_changed, false)) return;
  counters.verifiers = counters.drafters = 0;
  for (const auto& [peer, worker] : workers.all()) {
    if (worker.takes_work()) ++(worker.hello.role == Role::verifier ? counters.verifiers : counters.drafters);
  }
  counters.workers = workers.facts();
  std::vector<RefusedFacts> refused;
  for (const auto& [peer, facts] : refusals) {
    if (refused.size() < kRefusedNamedMax) refused.push_back(facts);
  }
  counters.refused_unnamed = refusals.size() - refused.size();
  counters.refused_now = std::make_shared<const std::vector<RefusedFacts>>(std::move(refused));
}

}  // namespace slipstream
