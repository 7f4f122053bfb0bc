// The part that the verifier's and the drafter's actor have in common: links to routers, heartbeats
// with their load, the drain, and the actor's one alarm. Pure. An actor holds one Worker, passes it
// the events of WorkerEvent, and after each event, once it has done its own work, calls
// send_heartbeats() and set_alarm().
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/messages/boundary.h"
#include "common/worker/busy_meter.h"
#include "common/worker/membership.h"

namespace slipstream {

// The process that a worker's actor runs in.
struct WorkerProcess {
  Incarnation incarnation = 0;
  uint32_t pid = 0;  // told to routers, for people
  std::string metrics_endpoint = {};
  std::vector<std::string> routers = {};  // endpoints; the actor connects to them at its first event
};

// What every worker's Hello says. The actor adds what its role offers.
Hello hello_of(Role role, const WorkerProcess& process, Fingerprint fingerprint);

// Part of an actor's counters.
struct WorkerCounters {
  bool welcome = false;            // by at least one router
  bool draining = false;           // it was told to stop
  uint64_t refusals = 0;           // by routers
  uint64_t duplicate_routers = 0;  // links to routers that another link already had
};

// For the next heartbeats.
struct WorkerLoad {
  uint32_t sequences = 0;  // live now
  uint32_t waiting = 0;    // live, without a free row or block
  uint64_t steps = 0;      // finished compute jobs
};

template <class E>
concept WorkerEvent =
    is_one_of<E, std::variant<Woke, PeerUp, PeerDown, From<Welcome>, From<Refuse>, From<RouterHeartbeat>, From<Drain>>>;

class Worker {
 public:
  Worker(const Hello& self, const std::vector<std::string>& routers) : membership_(self, routers) {}

  bool is_router(Peer peer) const { return membership_.owns(peer); }
  bool takes_orders_of(Peer peer) const { return peer == Peer{} || is_router(peer); }  // 0: this process itself
  bool draining() const { return draining_; }
  WorkerCounters counters() const;

  // The event, of any peer: those of peers that are no routers change nothing.
  void take(const Woke&, Time now, WorkerEffects effects);  // the first one connects to the routers
  void take(const PeerUp& up, Time now, WorkerEffects effects);
  void take(const PeerDown& down, Time now, WorkerEffects effects);
  void take(const From<Welcome>& from, Time now, WorkerEffects effects);
  void take(const From<Refuse>& from, Time now, WorkerEffects effects);
  void take(const From<RouterHeartbeat>& from, Time now, WorkerEffects effects);
  void take(const From<Drain>& from, Time now, WorkerEffects effects);  // a repeated one changes nothing

  // A compute job has ended that took so long.
  void computed(Time duration) { busy_.add(duration); }

  // Sends what is due to the routers.
  void send_heartbeats(Time now, const WorkerLoad& load, WorkerEffects effects);
  // Sets the actor's alarm to the sooner of its own next event and that of send_heartbeats().
  // nullopt: it has none of its own.
  void set_alarm(std::optional<Time> own, WorkerEffects effects);

 private:
  Membership membership_;
  BusyMeter busy_;
  bool connected_ = false;
  bool draining_ = false;
  std::optional<Time> alarm_;  // as the driver has it
};

}  // namespace slipstream
