// The part that the actors of verifier and drafter share: links to routers, heartbeats, the drain
// and the actor's one alarm. Pure.
//
// An actor holds one Worker. For each event it
//   1. passes it to take() if it is a WorkerEvent,
//   2. does its own work,
//   3. calls send_heartbeats(), then set_alarm().
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/messages/boundary.h"
#include "common/worker/busy_meter.h"
#include "common/worker/membership.h"

namespace slipstream {

// What a worker's actor knows of its own process.
struct WorkerProcess {
  Incarnation incarnation = 0;
  uint32_t pid = 0;  // told to routers, which show it to people
  std::string metrics_endpoint = {};
  std::vector<std::string> routers = {};  // endpoints; Worker connects to them at the first event
};

// The endpoints that the names of routers in DNS stand for now (common/service/router_names.h).
// The worker's driver gives this event whenever they change.
struct RoutersNamed {
  std::vector<std::string> endpoints;
};

// The fields of Hello that every worker fills in. The actor adds those of its role.
Hello hello_of(Role role, const WorkerProcess& process, Fingerprint fingerprint);

// A part of the actor's counters.
struct WorkerCounters {
  bool welcome = false;            // by at least one router
  bool draining = false;           // a Drain was received
  uint64_t refusals = 0;           // Refuse messages received
  uint64_t duplicate_routers = 0;  // links to routers that another link already had
};

// What a heartbeat reports.
struct WorkerLoad {
  uint32_t sequences = 0;  // live
  uint32_t waiting = 0;    // of the live ones: without a free row or cache block
  uint64_t steps = 0;      // compute jobs that have ended
};

// The events that take() accepts.
template <class E>
concept WorkerEvent = is_one_of<
    E, std::variant<Woke, PeerUp, PeerDown, RoutersNamed, From<Welcome>, From<Refuse>, From<RouterHeartbeat>, From<Drain>>>;

class Worker {
 public:
  Worker(const Hello& self, const std::vector<std::string>& routers) : membership_(self, routers) {}

  bool is_router(Peer peer) const { return membership_.owns(peer); }
  // Whether a message that only routers send is allowed from this peer. Peer 0 is this process: its
  // driver sends the Drain of a stop.
  bool takes_orders_of(Peer peer) const { return peer == Peer{} || is_router(peer); }
  bool draining() const { return draining_; }
  WorkerCounters counters() const;

  // Events of any peer may be passed. Link events of peers that are no routers change nothing.
  void on(const Woke&, Time now, WorkerEffects effects);  // the first call connects to the routers
  void on(const PeerUp& up, Time now, WorkerEffects effects);
  void on(const PeerDown& down, Time now, WorkerEffects effects);
  void on(const RoutersNamed& routers, Time now, WorkerEffects effects);
  void on(const From<Welcome>& from, Time now, WorkerEffects effects);
  void on(const From<Refuse>& from, Time now, WorkerEffects effects);
  void on(const From<RouterHeartbeat>& from, Time now, WorkerEffects effects);
  void on(const From<Drain>& from, Time now, WorkerEffects effects);  // a second one changes nothing

  // Later heartbeats report these.
  void drafters_gain(std::vector<DrafterGain> gains) { drafter_gains_ = std::move(gains); }
  // A compute job of this duration has ended.
  void computed(Time duration) { busy_.add(duration); }

  bool heartbeat_due(Time now) const;  // whether send_heartbeats() would send anything
  // Sends to the routers what is due at `now`.
  void send_heartbeats(Time now, const WorkerLoad& load, WorkerEffects effects);
  // Sets the actor's alarm to the sooner of `own`, the time that the actor itself waits for
  // (nullopt: none), and the time of the next send_heartbeats().
  void set_alarm(std::optional<Time> own, WorkerEffects effects);

 private:
  Membership membership_;
  BusyMeter busy_;
  std::vector<DrafterGain> drafter_gains_;
  bool connected_ = false;
  bool draining_ = false;
  std::optional<Time> alarm_;  // as the driver has it, so that an unchanged alarm gives no effect
};

}  // namespace slipstream
