#include "services/router/workers.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/messages/shown_names.h"

namespace slipstream {
namespace {

// What a worker computes with, for the page `/`.
std::string work_of(const Hello& hello) {
  if (hello.role == Role::verifier) return fmt::format("{}, weights {:016x}", hello.numerics_id, hello.fingerprint.weights);
  const std::string methods = fmt::format("{}", fmt::join(hello.methods, ","));
  if (hello.draft_model.empty()) return methods;
  return fmt::format("{} with {}, weights {:016x}", methods, hello.draft_model, hello.fingerprint.weights);
}

// A verifier may report anything, NaN too. An ask wins no more tokens than its tree is deep.
int64_t millionths(const DrafterGain& gain) {
  if (std::isnan(gain.tokens)) return 0;
  return std::llround(1e6 * std::clamp(static_cast<double>(gain.tokens), -1.0 * kTreeNodesMax, 1.0 * kTreeDepthMax));
}

}  // namespace

Result<void> Workers::welcome(Peer peer, Hello hello, Time now) {
  TRY_VOID(check(peer, hello));
  const bool joins = !workers_.contains(peer);
  KnownWorker& worker = workers_[peer];  // check() has shown that a repeated Hello is of the same process
  if (joins) worker.stepped = now;
  worker.hello = std::move(hello);
  std::erase(verifiers_, &worker);
  if (worker.hello.role == Role::verifier) verifiers_.push_back(&worker);
  worker.drained = drained_.contains(worker.hello.incarnation);
  if (worker.hello.role == Role::verifier) served_weights_ = worker.hello.fingerprint.weights;
  remember_methods(worker.hello);
  if (worker.hello.role == Role::drafter) {  // verifiers may know it already
    for (const bool greedy : {false, true}) renew_gain({.drafter = worker.hello.incarnation, .greedy = greedy});
  }
  worker.heard = now;
  worker.silent = worker.leaving = false;  // a worker that leaves says so again after its Hello
  return {};
}

// Drafters choose the names of their methods, so the set is bounded: beyond the limit it keeps only
// the methods of this release and of the drafters that are here now.
void Workers::remember_methods(const Hello& hello) {
  methods_.insert(hello.methods.begin(), hello.methods.end());
  if (methods_.size() <= kMethodsRememberedMax) return;
  methods_ = {kMethodNames.begin(), kMethodNames.end()};
  for (const auto& [peer, worker] : workers_) methods_.insert(worker.hello.methods.begin(), worker.hello.methods.end());
}

const KnownWorker* Workers::set_drained(Incarnation drafter, bool drained) {
  const auto same = [&](const auto& known) {
    return known.second.hello.incarnation == drafter && known.second.hello.role == Role::drafter;
  };
  const auto at = std::ranges::find_if(workers_, same);
  if (at == workers_.end() || at->second.drained == drained) return nullptr;
  at->second.drained = drained;
  if (drained) {
    remember_drained(drafter);
  } else {
    drained_.erase(drafter);
  }
  return &at->second;
}

// Beyond the limit it forgets those that are not here.
void Workers::remember_drained(Incarnation drafter) {
  drained_.insert(drafter);
  if (drained_.size() <= kDrainedRememberedMax) return;
  drained_.clear();
  for (const auto& [peer, worker] : workers_) {
    if (worker.drained) drained_.insert(worker.hello.incarnation);
  }
}

KnownWorker* Workers::find(Peer peer) {
  const auto at = workers_.find(peer);
  return at == workers_.end() ? nullptr : &at->second;
}

Result<void> Workers::check(Peer peer, const Hello& hello) const {
  if (!hello.versions.includes(kProtocolVersion)) {
    return fail("this router speaks protocol version {}, you speak {} to {}: run builds whose versions overlap",
                kProtocolVersion, hello.versions.oldest, hello.versions.newest);
  }
  TRY_VOID(check_names(hello));
  if (hello.incarnation == 0) return fail("incarnation 0 names no process: choose a random one at start");
  if (incoming_peer(hello.incarnation) != peer) {
    return fail("your Hello names incarnation {:016x}, your connection another one: one process, one incarnation",
                hello.incarnation);
  }
  if (!workers_.contains(peer) && workers_.size() >= kWorkersMax) {
    return fail("this router knows {} workers already, its limit: connect to another router", kWorkersMax);
  }
  const Fingerprint& ours = config_.fingerprint;
  if (!ours.same_tokens(hello.fingerprint)) {
    return fail(
        "other tokens: this router has tokenizer {:016x}, vocabulary {}, end-of-sequence ids {}; you have {:016x}, {}, {}. "
        "Start both from the same model folder, or use a drafter made for this model",
        ours.tokenizer, ours.vocabulary, fmt::join(ours.eos_ids, ","), hello.fingerprint.tokenizer,
        hello.fingerprint.vocabulary, fmt::join(hello.fingerprint.eos_ids, ","));
  }
  if (hello.role == Role::verifier) return check_verifier(peer, hello);
  if (hello.draft_endpoint.empty()) return fail("a drafter must say where verifiers connect: set its draft endpoint");
  return {};
}

Result<void> Workers::check_verifier(Peer peer, const Hello& hello) const {
  if (hello.numerics_id.empty()) return fail("a verifier must name its numerics (device, instruction path, weight format)");
  if (hello.context_max < 2) return fail("a context of {} tokens leaves no room for an answer", hello.context_max);
  if (hello.sequences_max < 1) return fail("a verifier that takes no sequence is of no use: raise its cache or its limit");
  for (const auto& [other, worker] : workers_) {
    // A verifier that is silent or stuck still counts: it may come back with the answers it began.
    if (other == peer || worker.hello.role != Role::verifier || worker.leaving) continue;
    if (worker.hello.fingerprint.weights == hello.fingerprint.weights) continue;
    return fail(
        "other weights or config: the verifiers of this router serve {:016x}, you have {:016x}, and one router serves one "
        "model. "
        "Start this verifier from their model folder (--model), or with a router of its own",
        worker.hello.fingerprint.weights, hello.fingerprint.weights);
  }
  return {};
}

std::vector<Peer> Workers::find_silent(Time now) {
  std::vector<Peer> fell;
  for (auto& [peer, worker] : workers_) {
    if (worker.silent || now - worker.heard < std::chrono::milliseconds(config_.worker_silent_ms)) continue;
    worker.silent = true;
    fell.push_back(peer);
  }
  return fell;
}

void Workers::heartbeat(KnownWorker& worker, const WorkerHeartbeat& heartbeat, Time now) {
  const bool steps = heartbeat.steps != worker.load.steps, idle = heartbeat.sequences == 0;
  // A verifier without sequences is not stuck: one with a step that hangs still counts its
  // sequences.
  if (steps || idle) worker.stuck = false;
  if (steps || idle || worker.assigned == 0) worker.stepped = now;
  if (heartbeat.drafter_gains != worker.load.drafter_gains) {
    const std::vector<DrafterGain> before = std::exchange(worker.load.drafter_gains, heartbeat.drafter_gains);
    count_gains(before, -1);
    count_gains(heartbeat.drafter_gains, 1);
    for (const DrafterGain& gain : before) renew_gain(gain);
    for (const DrafterGain& gain : heartbeat.drafter_gains) renew_gain(gain);
  }
  worker.load = heartbeat;
  const auto bounded = [](uint32_t count) { return static_cast<int32_t>(std::min<uint32_t>(count, kSequencesPerVerifierMax)); };
  worker.others = std::max(0, bounded(heartbeat.sequences) - worker.assigned);
  worker.queued = bounded(heartbeat.waiting);
}

// by: 1 for what a verifier reports now, -1 for what it reported before.
void Workers::count_gains(const std::vector<DrafterGain>& gains, int by) {
  for (const DrafterGain& gain : gains) {
    Gains& all = gains_[{gain.drafter, gain.greedy}];
    all.millionths += by * millionths(gain);
    all.count += by;
  }
}

void Workers::renew_gain(const DrafterGain& gain) {
  const auto at = gains_.find({gain.drafter, gain.greedy});
  if (at != gains_.end() && at->second.count == 0) gains_.erase(at);
  KnownWorker* drafter = find(incoming_peer(gain.drafter));
  if (drafter == nullptr || drafter->hello.role != Role::drafter) return;
  const auto known = gains_.find({gain.drafter, gain.greedy});
  (gain.greedy ? drafter->greedy_gain : drafter->coupled_gain) = known == gains_.end() ? std::nullopt : known->second.mean();
}

void Workers::remove(Peer peer) {
  const auto at = workers_.find(peer);
  if (at == workers_.end()) return;
  const std::vector<DrafterGain> reported = std::move(at->second.load.drafter_gains);
  std::erase(verifiers_, &at->second);
  workers_.erase(at);
  count_gains(reported, -1);
  for (const DrafterGain& gain : reported) renew_gain(gain);
}

std::vector<Peer> Workers::find_stuck(Time now) {
  std::vector<Peer> stuck;
  for (auto& [peer, worker] : workers_) {
    // A verifier that leaves counts: it may hang with what it was to finish.
    if (worker.hello.role != Role::verifier || worker.silent || worker.stuck || worker.assigned == 0) continue;
    if (now - worker.stepped < std::chrono::milliseconds(config_.verifier_stuck_ms)) continue;
    worker.stuck = true;
    stuck.push_back(peer);
  }
  return stuck;
}

void Workers::step_failed(Peer peer, Time now) {
  if (KnownWorker* worker = find(peer)) worker->rests_until = now + kFailedStepRest;
}

void Workers::end_rests(Time now) {
  for (auto& [peer, worker] : workers_) {
    if (worker.rests_until && now >= *worker.rests_until) worker.rests_until.reset();
  }
}

std::vector<Peer> Workers::find_forgotten(Time now) const {
  std::vector<Peer> gone;
  for (const auto& [peer, worker] : workers_) {
    if (now - worker.heard >= std::chrono::milliseconds(config_.worker_forget_ms)) gone.push_back(peer);
  }
  return gone;
}

int32_t Workers::context_max() const {
  int32_t most = 0;
  for (const auto& [peer, worker] : workers_) {
    if (worker.hello.role == Role::verifier && worker.takes_work()) most = std::max(most, worker.hello.context_max);
  }
  return most > 0 ? most : config_.context_max;
}

std::shared_ptr<const std::vector<WorkerFacts>> Workers::facts() const {
  std::vector<WorkerFacts> facts;
  for (const auto& [peer, worker] : workers_) {
    const Hello& hello = worker.hello;
    facts.push_back({.role = hello.role,
                     .incarnation = hello.incarnation,
                     .pid = hello.pid,
                     .what = work_of(hello),
                     .draft_endpoint = hello.draft_endpoint,
                     .metrics_endpoint = hello.metrics_endpoint,
                     .sequences = worker.load.sequences,
                     .assigned = static_cast<uint32_t>(worker.assigned),
                     .busy = worker.load.busy,
                     .greedy_gain = worker.greedy_gain,
                     .coupled_gain = worker.coupled_gain,
                     .silent = worker.silent,
                     .stuck = worker.stuck,
                     .resting = worker.rests_until.has_value(),
                     .leaving = worker.leaving,
                     .drained = worker.drained,
                     .why_leaving = worker.why_leaving});
  }
  return std::make_shared<const std::vector<WorkerFacts>>(std::move(facts));
}

}  // namespace slipstream
