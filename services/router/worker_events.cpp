// Workers join, speak, fall silent, hang, leave and go. What happens to the requests of a lost
// worker is in failover.cpp.
#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "common/base/names.h"
#include "common/base/printable.h"
#include "services/router/router_state.h"

namespace slipstream {
namespace {

constexpr size_t kPeersRememberedMax = 1024;

std::string name_of(const Hello& hello) {
  return fmt::format("{} {:016x}", hello.role == Role::verifier ? "verifier" : "drafter", hello.incarnation);
}
std::string name_of(const KnownWorker& worker) { return name_of(worker.hello); }

// The rest of a log line about a worker that can work no more.
std::string and_its_requests(int32_t assigned) {
  if (assigned == 0) return "";
  return assigned == 1 ? ", its 1 request goes on without it" : fmt::format(", its {} requests go on without it", assigned);
}

// The rest of a log line about a worker that leaves. before: the requests that it had.
std::string moved_of(const KnownWorker& worker, int32_t before) {
  if (before == 0) return "";
  if (worker.hello.role == Role::drafter) return fmt::format(", {} get other drafters if there are any", before);
  return fmt::format(", {} of its {} requests move to other verifiers, {} end there", before - worker.assigned, before,
                     worker.assigned);
}

// It said that it leaves, and has nothing left that goes on without it. Requests of a drafter are
// not lost with it.
bool left_in_order(const KnownWorker& worker) {
  return worker.leaving && (worker.hello.role == Role::drafter || worker.assigned == 0);
}

// Says what is wrong with a Hello that came with this key. A key is enrolled for one role, and a
// drafter's endpoint must name the drafter's own key, or verifiers would trust another's.
std::optional<std::string> refusal_of(const Hello& hello, const std::string& key) {
  const bool verifier = hello.role == Role::verifier;
  if (!key_is_of(key, verifier ? "verifier" : "drafter")) {
    return fmt::format("the key {} is not that of a {}: start this process with one of its own", key,
                       verifier ? "verifier" : "drafter");
  }
  if (verifier || hello.draft_endpoint.ends_with("#" + key)) return std::nullopt;
  return fmt::format("the draft endpoint {} does not name the key {} that this process has", hello.draft_endpoint, key);
}

std::optional<Peer> sender_of_message(const Router::Event& event) {
  return std::visit(
      [](const auto& e) -> std::optional<Peer> {
        if constexpr (requires { e.message; }) return e.peer;
        return std::nullopt;
      },
      event);
}

}  // namespace

// Any message shows that its sender lives, whatever it says.
bool Router::State::admits(const Event& event, Time now, Effects& effects) {
  const auto peer = sender_of_message(event);
  if (!peer) return true;
  if (const auto at = strikes.find(*peer); at != strikes.end() && at->second >= kStrikesMax) return false;
  if (KnownWorker* worker = workers.find(*peer)) {
    worker->heard = now;
    if (std::exchange(worker->silent, false)) {
      workers_changed = drafters_changed = true;
      note(fmt::format("{} is heard again", name_of(*worker)), effects);
    }
  }
  return true;
}

void Router::State::on(const Malformed& malformed, Time now, Effects& effects) {
  ++counters.malformed;
  if (strikes.size() >= kPeersRememberedMax && !strikes.contains(malformed.peer)) strikes.clear();
  if (++strikes[malformed.peer] != kStrikesMax) return;
  ++counters.quarantined;
  warn(fmt::format("cut off worker {:016x} after {} malformed messages, the last: {}", incarnation_of(malformed.peer),
                   kStrikesMax, malformed.why),
       effects);
  effects.push_back(Disconnect{malformed.peer});
  lose_worker(malformed.peer, now, effects);
}

// A worker speaks first: until its Hello the router knows no more of it than its key.
void Router::State::on(const PeerUp& up, Time, Effects&) {
  if (!up.key.empty()) keys[up.peer] = up.key;
}

void Router::State::on(const PeerDown& down, Time now, Effects& effects) {
  keys.erase(down.peer);
  strikes.erase(down.peer);
  workers_changed |= refusals.erase(down.peer) > 0;
  lose_worker(down.peer, now, effects);
}

void Router::State::on(From<Hello>&& event, Time now, Effects& effects) {
  const bool joins = workers.find(event.peer) == nullptr;
  const Hello hello = event.message;
  const uint64_t weights = workers.served_weights();
  if (const auto key = keys.find(event.peer); key != keys.end()) {
    if (auto refusal = refusal_of(event.message, key->second)) {
      refuse(event.peer, hello, *std::move(refusal), effects);
      return lose_worker(event.peer, now, effects);
    }
  }
  if (auto welcome = workers.welcome(event.peer, std::move(event.message), now); !welcome) {
    refuse(event.peer, hello, std::move(welcome.error().message), effects);
    return lose_worker(event.peer, now, effects);
  }
  workers_changed = drafters_changed = true;
  refusals.erase(event.peer);
  if (joins) {
    note(fmt::format("{} joined{}", name_of(hello), hello.pid > 0 ? fmt::format(", pid {}", hello.pid) : ""), effects);
  }
  if (weights != 0 && weights != workers.served_weights()) {
    warn(
        fmt::format("{} has other weights ({:016x}) than the verifiers before it ({:016x}), of which none is left: from now on "
                    "another model answers. If that is not meant, stop it",
                    name_of(hello), workers.served_weights(), weights),
        effects);
  }
  send(event.peer, Welcome{kProtocolVersion, config.incarnation, config.heartbeat_ms}, effects);
  start_waiting(now, effects);
}

void Router::State::refuse(Peer peer, const Hello& hello, std::string reason, Effects& effects) {
  ++counters.workers_refused;
  if (refusals.size() >= kPeersRememberedMax && !refusals.contains(peer)) refusals.clear();
  if (refusals[peer].reason != reason) warn(fmt::format("refused {}: {}", name_of(hello), reason), effects);
  refusals[peer] = {.role = hello.role, .incarnation = hello.incarnation, .pid = hello.pid, .reason = reason};
  workers_changed = true;
  send(peer, Refuse{std::move(reason)}, effects);
}

void Router::State::on(const From<WorkerHeartbeat>& event, Time now, Effects& effects) {
  KnownWorker* worker = workers.find(event.peer);
  if (worker == nullptr) {  // it was forgotten while it hung, or it means the life of this router before this one
    ++counters.strangers;
    send(event.peer, Refuse{"this router does not know you, or has forgotten you: say Hello again"}, effects);
    return;
  }
  const bool was_stuck = worker->stuck;
  workers.heartbeat(*worker, event.message, now);
  loads_changed = true;
  if (was_stuck && !worker->stuck) note(fmt::format("{} ends steps again", name_of(*worker)), effects);
}

// A worker that leaves finishes what it has. Requests that another verifier can go on with move
// there now, so that a drain does not wait for long answers.
void Router::State::on(const From<Leaving>& event, Time now, Effects& effects) {
  KnownWorker* worker = workers.find(event.peer);
  if (worker == nullptr) {
    ++counters.strangers;
    return;
  }
  const bool news = !std::exchange(worker->leaving, true);
  const int32_t before = worker->assigned;
  worker->why_leaving = one_line(event.message.reason);
  workers_changed = drafters_changed = true;
  move_away(event.peer, now, effects);
  if (news) {
    note(fmt::format("{} leaves{}: {}", name_of(*worker), moved_of(*worker, before), event.message.reason), effects);
  }
}

// Who drafts for the live requests now is the work of check_drafters(), at this very event.
void Router::State::on(const SetDrained& event, Time, Effects& effects) {
  const KnownWorker* worker = workers.set_drained(event.drafter, event.drained);
  if (worker == nullptr) return;
  workers_changed = drafters_changed = true;
  note(fmt::format("{} {}", name_of(*worker),
                   event.drained ? "is drained: no request is assigned to it until it is undrained" : "takes requests again"),
       effects);
}

void Router::State::lose_worker(Peer peer, Time now, Effects& effects) {
  KnownWorker* worker = workers.find(peer);
  if (worker == nullptr) return;
  note(fmt::format("{} is gone{}", name_of(*worker), and_its_requests(worker->assigned)), effects);
  if (!left_in_order(*worker)) ++counters.workers_lost;
  worker->leaving = true;  // no request that it loses may come back to it
  workers_changed = drafters_changed = true;
  requeue(peer, now, effects);
  memory.forget(peer);
  drafter_choice.forget(peer);
  rebalance.forget(peer);
  workers.remove(peer);
  start_waiting(now, effects);
}

// A router that did not run itself (its process was stopped, or its machine suspended) has heard no
// worker in that time. No worker is silent because of it.
void Router::State::check_clock(Time now, Effects& effects) {
  const Time gap = now - std::exchange(last_event, now);
  if (workers.all().empty() || gap < ms(config.worker_silent_ms) / 2) return;
  warn(fmt::format("this router did not run for {} ms: it was stopped, or the machine was",
                   std::chrono::duration_cast<std::chrono::milliseconds>(gap).count()),
       effects);
  for (auto& [peer, worker] : workers.all()) worker.heard = std::max(worker.heard, now);
}

void Router::State::check_workers(Time now, Effects& effects) {
  for (Peer peer : workers.find_silent(now)) {
    ++counters.workers_silenced;
    const KnownWorker& worker = workers.all().at(peer);
    warn(fmt::format("{} has been silent for {} ms{}", name_of(worker), config.worker_silent_ms,
                     and_its_requests(worker.assigned)),
         effects);
    workers_changed = drafters_changed = true;
    requeue(peer, now, effects);
  }
  for (Peer peer : workers.find_stuck(now)) {
    ++counters.workers_stuck;
    const KnownWorker& worker = workers.all().at(peer);
    warn(fmt::format("{} heartbeats, but has ended no step for {} ms{}: look at its log, or restart it", name_of(worker),
                     config.verifier_stuck_ms, and_its_requests(worker.assigned)),
         effects);
    workers_changed = true;
    requeue(peer, now, effects);
  }
  workers.end_rests(now);
  for (Peer peer : workers.find_forgotten(now)) lose_worker(peer, now, effects);
  if (now < next_heartbeat) return;
  next_heartbeat = now + ms(config.heartbeat_ms);
  for (const auto& [peer, worker] : workers.all()) send(peer, RouterHeartbeat{config.incarnation}, effects);
}

void Router::State::publish_workers() {
  counters.verifiers = counters.drafters = 0;
  for (const auto& [peer, worker] : workers.all()) {
    if (worker.takes_work()) ++(worker.hello.role == Role::verifier ? counters.verifiers : counters.drafters);
  }
  counters.context_max = workers.context_max();
  counters.workers = workers.facts();
  std::vector<RefusedFacts> refused;
  for (const auto& [peer, facts] : refusals) {
    if (refused.size() < kRefusedNamedMax) refused.push_back(facts);
  }
  counters.refused_unnamed = refusals.size() - refused.size();
  counters.refused_now = std::make_shared<const std::vector<RefusedFacts>>(std::move(refused));
}

}  // namespace slipstream
