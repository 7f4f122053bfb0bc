// The inside of the actor, shared by router.cpp (requests), drafters.cpp (who drafts for them) and
// failover.cpp (workers). Nobody else includes it.
#pragma once

#include <map>
#include <optional>

#include "services/router/admission.h"
#include "services/router/live_request.h"
#include "services/router/prefix_memory.h"
#include "services/router/rebalance.h"
#include "services/router/router.h"
#include "services/router/workers.h"

namespace slipstream {

inline Time ms(uint32_t milliseconds) { return std::chrono::milliseconds(milliseconds); }

// Invariants. (1) A request waits in the queue, or has a verifier in `workers` whose `assigned`
// counts it, and at most one drafter whose does. (2) Its epoch is that of its newest Start: what
// carries another is stale. (3) A request leaves `requests` with exactly one finishing Delivery,
// one Failure, or an Abandon. Lines of the log about failed requests come no closer than this.
inline constexpr Time kBetweenFailureLines = std::chrono::seconds(5);

struct Router::State {
  explicit State(RouterConfig given) : config(std::move(given)) {}

  // Requests (router.cpp).
  void handle(Submit&& submit);
  void handle(const Abandon& abandon);
  void handle(const Closing& closing);
  void handle(const From<Accepted>& from);
  void handle(const From<Refused>& from);
  void handle(const From<Tokens>& from);
  void assign_waiting();
  void start(LiveRequest& request, Placement placement);
  void move(LiveRequest& request, Placement placement);  // to another verifier, while its own may live on
  void send_start(LiveRequest& request);
  void heard(LiveRequest& request);  // by its verifier, which has it
  void acknowledge(LiveRequest& request, bool fresh, bool finished);
  void deliver(LiveRequest& request, Stream::Taken taken);
  bool finish_if_complete(LiveRequest& request);
  void fail(LiveRequest& request, Failure failure);
  void release(LiveRequest& request);       // from its verifier or the queue
  void erase(LiveRequest& request);         // released, finished, gone
  void to_waiting(LiveRequest& request);    // back to the head of the queue
  void cancel(const LiveRequest& request);  // tells its verifier
  LiveRequest* current(Peer peer, const SequenceId& sequence, Epoch epoch);
  SequenceId sequence(const LiveRequest& request) const { return {config.incarnation, request.submit.request}; }

  // Who drafts for whom (drafters.cpp).
  bool trusts(Peer drafter) const;
  RuleChoice rule_for(const LiveRequest& request) const;
  RuleReason why_not_sampled(const LiveRequest& request) const;
  void count_rule(const LiveRequest& request);
  Tuning tuning_for(const LiveRequest& request) const;
  std::vector<Peer> drafters_for(const LiveRequest& request, const Acceptance& acceptance, Peer now_drafts) const;
  void give_drafters(LiveRequest& request);
  void take_drafters(LiveRequest& request);
  void check_drafters();
  void send_assign(LiveRequest& request);

  // Workers (failover.cpp).
  void handle(const Woke&);
  void handle(const PeerUp& up);  // it speaks first: Hello
  void handle(const PeerDown& down);
  void handle(const Malformed& malformed);
  void handle(From<Hello>&& from);
  void handle(const From<WorkerHeartbeat>& from);
  void handle(const From<Leaving>& from);
  void handle(const From<Unknown>&) { ++counters.unknown_tags; }
  bool admits(const Event& event);  // false: from a quarantined peer
  void refuse(Peer peer, const Hello& hello, std::string reason);
  void lose_worker(Peer peer);
  void requeue(Peer peer);  // its requests go back to the queue
  void look_at_clock(Time since_last_event);
  void look_at_workers();
  void tell_failures();
  void look_at_requests();
  void look_at(LiveRequest& request);
  void look_at_waiting(LiveRequest& request);
  void look_at_balance();
  std::vector<RequestId> request_ids() const;  // to go through while some end
  void set_alarm();
  void publish();

  void note(std::string text) { effects->push_back(Note{std::move(text)}); }
  void warn(std::string text) { effects->push_back(Note{std::move(text), true}); }
  template <class M>
  void send(Peer peer, M message) {
    effects->push_back(To<M>{peer, std::move(message)});
  }

  RouterConfig config;
  RouterCounters counters;
  Workers workers{config};
  PrefixMemory memory;
  Rebalance rebalance{config};
  Admission admission{config};
  std::map<RequestId, LiveRequest> requests;
  std::map<Peer, int> strikes;
  std::map<Peer, std::string> keys;       // the key's name of each peer that is connected, if there are keys
  std::map<Peer, RefusedFacts> refusals;  // of those connected; the log has each reason once
  Time next_heartbeat{};
  std::optional<Time> alarm;
  bool workers_changed = true;    // since the newest facts
  bool starts_nothing = false;    // it must stop now
  bool drafters_changed = false;  // since check_drafters()

  // Of the event at hand.
  Time now{};
  uint64_t failures_unsaid = 0;  // since the last line of the log on them
  std::string newest_failure;
  Time tell_failures_at{};
  std::vector<Effect>* effects = nullptr;
};

}  // namespace slipstream
