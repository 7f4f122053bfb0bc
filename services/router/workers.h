// The verifiers and drafters that work for this router, by connection: what each says of itself,
// what it has to do, and when it was last heard. What happens at each of their messages is in
// worker_events.cpp.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/actor/actor.h"
#include "common/base/limits.h"
#include "common/base/names.h"
#include "common/messages/control.h"
#include "services/router/counters.h"
#include "services/router/router_config.h"

namespace slipstream {

inline constexpr size_t kWorkersMax = kConnectionsMax;  // each has a connection
inline constexpr size_t kMethodsRememberedMax = 256;
// How long a verifier whose step failed gets only what no other verifier has room for. One that
// fails every step has the least to do, so it would be given each new request.
inline constexpr std::chrono::seconds kFailedStepRest{30};
inline constexpr size_t kDrainedRememberedMax = 2 * kWorkersMax;
inline constexpr double kDrafterGainUnknown = 1;  // tokens; expected of a drafter that no verifier knows well

// Two verifiers with equal backends compute equal bits, so that one can go on where the other
// stopped.
struct Backend {
  std::string numerics_id;
  uint64_t weights = 0;
  bool operator==(const Backend&) const = default;
};

struct KnownWorker {
  Hello hello;
  WorkerHeartbeat load;  // the newest heartbeat
  Time heard{};
  // A drafter's: tokens that an ask for a tree wins, less what its rows cost: the mean of what the
  // verifiers report that are here; nullopt: none of them knows it well.
  std::optional<double> greedy_gain, coupled_gain;
  int32_t assigned = 0;             // live sequences of this router that it verifies, or drafts as their first drafter
  int32_t others = 0;               // sequences of other routers, at the newest heartbeat
  int32_t queued = 0;               // sequences of all routers that wait there without cache, at the newest heartbeat
  Time stepped{};                   // the newest heartbeat that showed progress, or nothing to do
  bool silent = false;              // it has said nothing for worker_silent_ms
  bool stuck = false;               // a verifier that heartbeats and has sequences, but has ended no step for verifier_stuck_ms
  std::optional<Time> rests_until;  // a step of it failed lately (kFailedStepRest)
  bool leaving = false;
  bool drained = false;  // a drafter that an operator lets rest
  std::string why_leaving;
  bool takes_work() const { return !silent && !stuck && !leaving && !drained; }
  double gain(Rule rule) const { return (rule == Rule::greedy ? greedy_gain : coupled_gain).value_or(kDrafterGainUnknown); }
  Backend backend() const { return {hello.numerics_id, hello.fingerprint.weights}; }

  // A verifier's sequences. The count of this router is of now, that of others of the newest
  // heartbeat. A sequence that waits there without cache counts twice, because more would only
  // wait.
  int32_t sequences() const { return assigned + others + queued; }
  int32_t capacity() const { return std::min(hello.sequences_max, kSequencesPerVerifierMax); }
  double load_with(int32_t more) const { return static_cast<double>(sequences() + more) / capacity(); }  // of its capacity
};

class Workers {
 public:
  explicit Workers(const RouterConfig& config) : config_(config) {}

  // Adds the worker, or renews what a known one says of itself. Error: a sentence for Refuse.
  Result<void> welcome(Peer peer, Hello hello, Time now);
  // The hash of the weights of the verifiers that are here or, with none, of the last that was; 0:
  // there was none.
  uint64_t served_weights() const { return served_weights_; }
  // The draft methods of this release, and of all drafters that were ever here, up to
  // kMethodsRememberedMax.
  bool knows_method(std::string_view method) const { return methods_.contains(method); }
  const std::set<std::string, std::less<>>& methods() const { return methods_; }
  KnownWorker* find(Peer peer);
  // A drained drafter takes no work, also if it is gone for a while and comes back. Null: there is
  // no such drafter, or it is so already.
  const KnownWorker* set_drained(Incarnation drafter, bool drained);
  void heartbeat(KnownWorker& worker, const WorkerHeartbeat& heartbeat, Time now);
  void remove(Peer peer);
  // Marks workers silent and returns those that were not silent before. A silent worker takes work
  // again as soon as it speaks.
  std::vector<Peer> find_silent(Time now);
  // Marks verifiers stuck and returns those that were not stuck before. A stuck verifier takes work
  // again when a step ends, or when it has nothing left to do.
  std::vector<Peer> find_stuck(Time now);
  void step_failed(Peer peer, Time now);
  void end_rests(Time now);
  // Workers that have said nothing for worker_forget_ms.
  std::vector<Peer> find_forgotten(Time now) const;

  std::map<Peer, KnownWorker>& all() { return workers_; }  // ordered, so that every choice is deterministic
  const std::map<Peer, KnownWorker>& all() const { return workers_; }
  const std::vector<const KnownWorker*>& verifiers() const { return verifiers_; }  // in the order of their Hellos
  std::shared_ptr<const std::vector<WorkerFacts>> facts() const;
  // Tokens of prompt and answer together: of the verifier here that offers most, or with none here
  // that of the model.
  int32_t context_max() const;

 private:
  // What all verifiers that are here reported last of a drafter, by rule, with equal weights. Kept
  // as sums, because a heartbeat must not cost more with every verifier that is there. The sums are
  // integers, so that nothing is left of a report that is taken back, however wrong it was.
  struct Gains {
    int64_t millionths = 0;  // of a token
    int count = 0;
    std::optional<double> mean() const {
      return count == 0 ? std::nullopt : std::optional(1e-6 * static_cast<double>(millionths) / count);
    }
  };
  using GainKey = std::pair<Incarnation, bool>;  // drafter, whether of greedy requests
  void count_gains(const std::vector<DrafterGain>& gains, int by);
  void renew_gain(const DrafterGain& gain);
  Result<void> check(Peer peer, const Hello& hello) const;
  Result<void> check_verifier(Peer peer, const Hello& hello) const;

  void remember_methods(const Hello& hello);
  void remember_drained(Incarnation drafter);

  uint64_t served_weights_ = 0;
  std::set<std::string, std::less<>> methods_{kMethodNames.begin(), kMethodNames.end()};
  const RouterConfig& config_;
  std::map<Peer, KnownWorker> workers_;
  std::vector<const KnownWorker*> verifiers_;  // of workers_
  std::map<GainKey, Gains> gains_;
  std::set<Incarnation> drained_;  // at most kDrainedRememberedMax, of which some may be gone
};

}  // namespace slipstream
