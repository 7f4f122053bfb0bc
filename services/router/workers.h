// Who works for this router: verifiers and drafters by connection, what each said of itself, and
// when it was last heard.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/actor/actor.h"
#include "common/base/limits.h"
#include "common/base/names.h"
#include "common/messages/control.h"
#include "services/router/counters.h"
#include "services/router/router_config.h"

namespace slipstream {

inline constexpr size_t kWorkersMax = 256;
inline constexpr size_t kMethodsRememberedMax = 256;

// Two verifiers with equal backends give equal bits, so one can go on where the other fell.
struct Backend {
  std::string numerics_id;
  uint64_t weights = 0;
  bool operator==(const Backend&) const = default;
};

struct Worker {
  Hello hello;
  WorkerHeartbeat load;  // the newest
  Time heard{};
  int32_t assigned = 0;  // live sequences of this router that it verifies, or drafts as the first of their drafters
  int32_t others = 0;    // sequences that it has from other routers, as of the newest heartbeat
  int32_t queued = 0;    // of all, those that wait there without cache, likewise
  Time stepped{};        // when its newest heartbeat last showed progress, or nothing to do
  bool silent = false;   // nothing heard for worker_silent_ms
  bool stuck = false;    // heard, but a verifier that has sequences and ended no step for verifier_stuck_ms
  bool leaving = false;
  std::string why_leaving;
  bool takes_work() const { return !silent && !stuck && !leaving; }
  Backend backend() const { return {hello.numerics_id, hello.fingerprint.weights}; }

  // Of a verifier. Our own count is of now, that of other routers of the newest heartbeat; a
  // sequence that waits there without cache counts twice: there is no use in sending more.
  int32_t sequences() const { return assigned + others + queued; }
  int32_t capacity() const { return std::min(hello.sequences_max, kSequencesPerVerifierMax); }
  double load_with(int32_t more) const { return static_cast<double>(sequences() + more) / capacity(); }  // of its capacity
};

class Workers {
 public:
  explicit Workers(const RouterConfig& config) : config_(config) {}

  // Adds the worker, or takes a repeated Hello of a known one. Error: a sentence for Refuse.
  Result<void> welcome(Peer peer, Hello hello, Time now);
  uint64_t served_weights() const {
    return served_weights_;
  }  // of the verifiers now, or of the last that was here; 0: none was
  // The draft methods of this release, and of all drafters that were ever here.
  bool knows_method(std::string_view method) const { return methods_.contains(method); }
  const std::set<std::string, std::less<>>& methods() const { return methods_; }
  Worker* find(Peer peer);
  void heartbeat(Worker& worker, const WorkerHeartbeat& heartbeat, Time now);
  void remove(Peer peer) { workers_.erase(peer); }
  // Those that fell silent just now; they stay known until worker_forget_ms, and come back when
  // they speak.
  std::vector<Peer> find_silent(Time now);
  std::vector<Peer> find_stuck(
      Time now);  // just now; they come back with the next step that ends, or when nothing is left to do
  std::vector<Peer> find_forgotten(Time now) const;

  std::map<Peer, Worker>& all() { return workers_; }  // ordered, so that every choice is deterministic
  const std::map<Peer, Worker>& all() const { return workers_; }
  std::shared_ptr<const std::vector<WorkerFacts>> facts() const;

 private:
  Result<void> check(Peer peer, const Hello& hello) const;
  Result<void> check_verifier(Peer peer, const Hello& hello) const;

  void remember_methods(const Hello& hello);

  uint64_t served_weights_ = 0;
  std::set<std::string, std::less<>> methods_{kMethodNames.begin(), kMethodNames.end()};
  const RouterConfig& config_;
  std::map<Peer, Worker> workers_;
};

}  // namespace slipstream
