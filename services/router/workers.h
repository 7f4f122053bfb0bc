// Who works for this router: verifiers and drafters by connection, what each said of itself, and when it was last heard.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/actor/actor.h"
#include "common/messages/control.h"
#include "services/router/counters.h"
#include "services/router/router_config.h"

namespace slipstream {

inline constexpr size_t kWorkersMax = 256;

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
  bool silent = false;   // nothing heard for worker_silent_ms
  bool leaving = false;
  bool takes_work() const { return !silent && !leaving; }
  Backend backend() const { return {hello.numerics_id, hello.fingerprint.weights}; }
};

class Workers {
 public:
  explicit Workers(const RouterConfig& config) : config_(config) {}

  // Adds the worker, or takes a repeated Hello of a known one. Error: a sentence for Refuse.
  Result<void> welcome(Peer peer, Hello hello, Time now);
  Worker* find(Peer peer);
  void remove(Peer peer) { workers_.erase(peer); }
  // Those that fell silent just now; they stay known until worker_forget_ms, and come back when they speak.
  std::vector<Peer> find_silent(Time now);
  std::vector<Peer> find_forgotten(Time now) const;

  std::map<Peer, Worker>& all() { return workers_; }  // ordered, so that every choice is deterministic
  const std::map<Peer, Worker>& all() const { return workers_; }
  std::shared_ptr<const std::vector<WorkerFacts>> facts() const;

 private:
  Result<void> check(Peer peer, const Hello& hello) const;
  Result<void> check_verifier(Peer peer, const Hello& hello) const;

  const RouterConfig& config_;
  std::map<Peer, Worker> workers_;
};

}  // namespace slipstream
