// The inside of the router's actor. Seven files implement it: router.cpp (what happens at every
// event), requests.cpp (one request at its verifier), deadlines.cpp (time passes for a request),
// failover.cpp (a request goes on elsewhere), worker_events.cpp (workers come, speak and go),
// assign.cpp (verifiers are told who drafts) and retune.cpp (how far they draft). No other file
// includes it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/speculation/tuner.h"
#include "services/router/admission.h"
#include "services/router/drafter_choice.h"
#include "services/router/live_request.h"
#include "services/router/placement.h"
#include "services/router/prefix_memory.h"
#include "services/router/rebalance.h"
#include "services/router/router.h"
#include "services/router/workers.h"

namespace slipstream {

inline Time ms(uint32_t milliseconds) { return std::chrono::milliseconds(milliseconds); }

// Invariants, between events:
//   1. A request is Waiting and in the queue of `admission`, or it is at a verifier in `workers`
//      whose `assigned` counts it. It has at most one first drafter, whose `assigned` counts it, too.
//   2. The epoch of a request is that of its newest Start. A message of another epoch is stale.
//   3. A request leaves `requests` with exactly one finishing Delivery, one Failure, or an Abandon.
struct Router::State {
  using Effects = std::vector<Effect>;

  explicit State(RouterConfig given) : config(std::move(given)) {}

  // Every event (router.cpp).
  void on(const Woke& event, Time now, Effects& effects);
  void on(const From<Unknown>&, Time, Effects&) { ++counters.unknown_tags; }
  void log_failures(Time now, Effects& effects);
  void set_alarm(Time now, Effects& effects);
  void publish(Time now);

  // Requests (requests.cpp).
  void on(Submit&& submit, Time now, Effects& effects);
  void on(const Abandon& abandon, Time now, Effects& effects);
  void on(const Closing& closing, Time now, Effects& effects);
  void on(const From<Accepted>& event, Time now, Effects& effects);
  void on(const From<Refused>& event, Time now, Effects& effects);
  void on(const From<Tokens>& event, Time now, Effects& effects);
  void start_waiting(Time now, Effects& effects);  // all that a verifier can take now
  void start(LiveRequest& request, Placement placement, Time now, Effects& effects);
  void send_start(const LiveRequest& request, Effects& effects);
  void confirm(LiveRequest& request, Time now);  // its verifier has spoken: it runs
  void acknowledge(LiveRequest& request, const ReceivedTokens::Taken& taken, Time now, Effects& effects);
  void deliver(LiveRequest& request, ReceivedTokens::Taken taken, Time now, Effects& effects);
  static void still_here(LiveRequest& request, Time now, Effects& effects);  // tells its client
  void fail(LiveRequest& request, Failure failure, Time now, Effects& effects);
  void cancel(const LiveRequest& request, Effects& effects);  // tells its verifier, if it has one
  void release(LiveRequest& request);                         // from the queue, or from its verifier and drafter
  // outcome: how it ended: "stop", "length", "abandoned" or the code of its failure.
  void erase(LiveRequest& request, std::string_view outcome, Time now, Effects& effects);
  // The id of its span; the span, which ends now.
  uint64_t span_of(const LiveRequest& request) const;
  Span span(LiveRequest& request, std::string_view outcome, Time now) const;
  static void traced(LiveRequest& request, std::string event, Time now);
  // The request that a message speaks of; null: the message is stale.
  LiveRequest* current(Peer peer, const SequenceId& sequence, Epoch epoch);
  std::vector<RequestId> request_ids() const;  // for loops in which requests end
  SequenceId sequence(const LiveRequest& request) const { return {config.incarnation, request.submit.request}; }

  // Their deadlines and repetitions (deadlines.cpp).
  void check_requests(Time now, Effects& effects);
  void check(LiveRequest& request, Time now, Effects& effects);
  void check_waiting(LiveRequest& request, Time now, Effects& effects);

  // Failover (failover.cpp).
  void to_waiting(LiveRequest& request, Waiting as);  // back to the head of the queue
  void requeue(Peer verifier, Time now, Effects& effects);
  void move(LiveRequest& request, Placement placement, Time now, Effects& effects);
  void move_away(Peer verifier, Time now, Effects& effects);  // what another verifier can take now
  void move_to_idle_verifiers(Time now, Effects& effects);
  bool finish_if_complete(LiveRequest& request, Time now, Effects& effects);
  bool goes_on_elsewhere(LiveRequest& request, const Tokens& failed);

  // Workers (worker_events.cpp).
  void on(const PeerUp& up, Time now, Effects& effects);
  void on(const PeerDown& down, Time now, Effects& effects);
  void on(const Malformed& malformed, Time now, Effects& effects);
  void on(const SetDrained& event, Time now, Effects& effects);
  void on(From<Hello>&& event, Time now, Effects& effects);
  void on(const From<WorkerHeartbeat>& event, Time now, Effects& effects);
  void on(const From<Leaving>& event, Time now, Effects& effects);
  bool admits(const Event& event, Time now, Effects& effects);  // false: the peer is quarantined
  void check_clock(Time now, Effects& effects);
  void check_workers(Time now, Effects& effects);
  void refuse(Peer peer, const Hello& hello, std::string reason, Effects& effects);
  void lose_worker(Peer peer, Time now, Effects& effects);
  void publish_workers();

  // Drafters (assign.cpp).
  void count_rule(const LiveRequest& request);
  void give_drafters(LiveRequest& request);
  void take_drafters(LiveRequest& request);
  void check_drafters(Time now, Effects& effects);
  void send_assign(LiveRequest& request, Time now, Effects& effects);

  // Tuning (retune.cpp).
  void on(Scraped&& event, Time now, Effects& effects);
  Tuning tuning_of(const KnownWorker& drafter) const;
  void check_tuner(Time now);  // time passes
  void check_tunings(Time now, Effects& effects);
  bool retune(LiveRequest& request);  // false: its drafters have the newest tunings

  static void note(std::string text, Effects& effects) { effects.push_back(Note{std::move(text)}); }
  static void warn(std::string text, Effects& effects) { effects.push_back(Note{std::move(text), true}); }
  template <class M>
  static void send(Peer peer, M message, Effects& effects) {
    effects.push_back(To<M>{peer, std::move(message)});
  }

  // Constant after construction.
  const RouterConfig config;

  // Between events: requests and the workers that they may go to.
  std::map<RequestId, LiveRequest> requests;
  Admission admission{config};
  Workers workers{config};
  PrefixMemory memory;
  Rebalance rebalance{config};
  bool starts_nothing = false;  // the router ends now

  // Between events: connected peers.
  std::map<Peer, std::string> keys;       // the name of each peer's key, if the router runs with keys
  std::map<Peer, int> strikes;            // malformed messages
  std::map<Peer, RefusedFacts> refusals;  // the newest one of each; the log has each reason once
  DrafterChoice drafter_choice{config, workers, keys};
  Tuner tuner{config.tuning.threshold, config.tuning.deadline_us * 1e-6, config.tuning.depth_max};

  // Between events: time.
  Time last_event{};
  Time next_heartbeat{};
  std::optional<Time> alarm;  // as the driver has it

  // Between events: what is published or logged.
  RouterCounters counters;
  uint64_t failures_not_logged = 0;
  std::string newest_failure;
  Time log_failures_at{};  // not before

  // Set by an event, and clear again when it has ended.
  bool workers_changed = true;    // publish() renews the facts of workers
  bool loads_changed = false;     // it does, too, but among many workers not at every heartbeat
  Time loads_not_before{};        // if it is set
  bool drafters_changed = false;  // check_drafters() looks at every live request
  bool tunings_changed = false;   // check_tunings() does; stays set while a request waits for its turn
  Time retune_not_before{};       // if it is set
};

}  // namespace slipstream
