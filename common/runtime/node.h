// Drives one actor in the real world: frames in and out through a Transport, jobs on a ComputeThread, the clock, one alarm, and a
// bounded inbox for local events from other threads (HTTP). run() is the loop; everything else of the actor happens on its thread.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "common/actor/actor.h"
#include "common/base/bounded_queue.h"
#include "common/base/limits.h"
#include "common/runtime/compute_thread.h"
#include "common/runtime/published.h"
#include "common/runtime/transport.h"
#include "common/wire/codec.h"

namespace slipstream {

// Counters of the loop itself.
struct NodeCounters {
  TransportCounters transport;
  uint64_t misdirected = 0;   // a well-formed message that this role does not take
  uint64_t inbox_full = 0;    // local events refused
};

// Local: a callable that takes each effect which is neither a message, a link, a job nor the alarm (the router's deliveries).
// struct NoLocal {} where there is none. J, R: the job of the actor's Run<J> effect; NoJob where it has none.
struct NoLocal {};
struct NoJob {};

template <Actor A, class J = NoJob, class R = NoJob, class Local = NoLocal>
class Node {
 public:
  using Event = typename A::Event;
  using Effect = typename A::Effect;
  using Work = std::function<Result<R>(J&)>;

  Node(A& actor, Transport& transport, Work work = {}, Local local = {});

  void run(std::stop_token stop);  // returns when stopped
  bool post(Event event);          // thread-safe; false: the inbox is full (counted)

  auto counters() const { return published_actor_.read(); }  // thread-safe
  NodeCounters node_counters() const { return published_node_.read(); }
};

}  // namespace slipstream
