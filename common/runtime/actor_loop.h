// Drives one actor in a real process (the simulator in tests/sim drives the same actors without
// one). The loop gives the actor its events and performs its effects:
//
//   events from              effects to
//   frames of a Transport    a Transport (messages, Connect, Disconnect)
//   results of jobs          a ComputeThread (Run)
//   the alarm                the alarm (WakeAt)
//   post(), from any thread  the log (Note), a collector (Span), and `Local` for all other effects
//
// run() is the loop. The actor is called on the thread of run() only.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "common/actor/actor.h"
#include "common/base/bounded_queue.h"
#include "common/base/limits.h"
#include "common/runtime/compute_thread.h"
#include "common/runtime/log_note.h"
#include "common/runtime/progress.h"
#include "common/runtime/published.h"
#include "common/runtime/span_sink.h"
#include "common/runtime/transport.h"
#include "common/wire/codec.h"

namespace slipstream {

// Counters of the loop itself.
struct LoopCounters {
  TransportCounters transport;
  uint64_t misdirected = 0;  // well-formed messages that this role does not take
  uint64_t undecodable = 0;  // frames whose payload is not a message of their boundary
  uint64_t inbox_full = 0;   // local events refused by post()
  uint64_t events = 0;       // events given to the actor
};

inline constexpr int kEventsPerTurnMax = 64;                       // of one source, before the others get their turn
inline constexpr std::chrono::milliseconds kPublishInterval{100};  // between two publications of a loop that never sleeps
inline constexpr std::chrono::milliseconds kSleepMax{1000};        // longest sleep of the loop
inline constexpr std::chrono::milliseconds kDrainLinger{1000};     // time for the last frames to leave after the end

// Defaults of ActorLoop's parameters, for actors that have no local effects and no jobs.
struct NoLocal {};
struct NoJob {};

// A: the actor.
// J, R: the job of the actor's Run<J> effect and its result; NoJob if it has none.
// Local: a callable that takes the effects that ActorLoop does not perform itself (the router's
//        deliveries to HTTP, the grammars that a verifier has compiled); NoLocal if there are none.
//
// Actor and transport must outlive the loop. Time is in microseconds since construction. The first
// event is Woke, at about time 0.
template <Actor A, class J = NoJob, class R = NoJob, class Local = NoLocal>
class ActorLoop {
 public:
  using Event = typename A::Event;
  using Effect = typename A::Effect;
  using Work = std::function<Result<R>(J&)>;

  ActorLoop(A& actor, Transport& transport, Work work = {}, Local local = {})
      : actor_(actor), transport_(transport), published_actor_(actor.counters()), local_(std::move(local)) {
    if constexpr (kHasJob) compute_.emplace(std::move(work), [this] { transport_.wake(); });
  }

  // Runs the loop until `stop`, then closes the transport. Call one of the two run() once. If a
  // job is running at the end, the destructor waits for it.
  void run(const std::stop_token& stop) {
    loop(stop);
    leave();
  }
  // How to stop without losing work. After `stop`:
  //   1. on_stop(actor) is called, so that the caller can log what is still under way.
  //   2. The actor is given `drain`: it tells its peers that it leaves.
  //   3. The loop goes on until done(actor), but for `grace` at most.
  //   4. The inbox closes. If what came last was work, the loop goes on as in 3. If the actor is
  //      still not done, it is given `final_event`, if any.
  //   5. The transport closes. The last frames have kDrainLinger to leave.
  struct DrainPlan {
    Event drain;
    std::chrono::milliseconds grace{0};
    std::function<bool(const A&)> done = [](const A&) { return true; };
    std::optional<Event> final_event = std::nullopt;
    std::function<void(const A&)> on_stop = [](const A&) {};
  };
  // As run(stop), with a drain at the end. Returns what is left of the grace.
  std::chrono::milliseconds run(const std::stop_token& stop, DrainPlan plan) {
    loop(stop);
    plan.on_stop(actor_);
    give(std::move(plan.drain));
    publish();  // before the inbox closes: a poster that it refuses can read that this process leaves
    end_ = now() + plan.grace;
    await(plan.done);
    inbox_.close();  // from here on post() returns false; every event accepted before is still given
    while (auto event = inbox_.pop()) give(*std::move(event));
    await(plan.done);
    if (!plan.done(actor_) && plan.final_event) give(*std::move(plan.final_event));
    leave();
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::max(*end_ - now(), Time(0)));
  }

  // Gives the actor a local event, soon. Thread-safe. False: the inbox is full or closed; the event
  // is dropped and counted.
  bool post(Event event) {
    if (!inbox_.push(std::move(event))) {
      inbox_full_.fetch_add(1, std::memory_order_relaxed);
      return false;
    }
    transport_.wake();
    return true;
  }

  // The counters of the actor and of the loop as last published, at most about kSleepMax ago.
  // Thread-safe.
  auto counters() const { return published_actor_.read(); }
  LoopCounters loop_counters() const {
    LoopCounters counters = published_loop_.read();
    counters.inbox_full = inbox_full_.load(std::memory_order_relaxed);
    return counters;
  }
  // For how long the loop and its job have stood still. Thread-safe; it waits for neither.
  Standstill standstill() const { return progress_.standstill(now()); }

 private:
  using Counters = std::decay_t<decltype(std::declval<A&>().counters())>;
  static constexpr bool kHasJob = !std::is_same_v<J, NoJob>;
  template <class E>
  static constexpr bool kHears = is_one_of<E, Event>;

  Time now() const { return std::chrono::duration_cast<Time>(std::chrono::steady_clock::now() - began_); }

  void loop(const std::stop_token& stop) {
    std::stop_callback wake_up(stop, [this] { transport_.wake(); });
    give(Woke{});
    while (!stop.stop_requested()) {
      if (!turn()) sleep();
    }
  }

  void await(const std::function<bool(const A&)>& done) {
    while (!done(actor_) && now() < *end_) {
      if (!turn()) sleep();
    }
  }

  void leave() {
    publish();
    transport_.close(kDrainLinger);
  }

  // Handles what is ready now: alarm, job, inbox, transport. At most kEventsPerTurnMax events of
  // one source, so that a flood from one does not starve the others. False: nothing was ready.
  bool turn() {
    progress_.turned(now());
    bool any = ring() | take_result();
    for (int n = 0; n < kEventsPerTurnMax; ++n) {
      auto event = inbox_.pop();
      if (!event) break;
      give(*std::move(event));
      any = true;
    }
    for (int n = 0; n < kEventsPerTurnMax; ++n) {
      auto event = transport_.next(std::chrono::microseconds(0));
      if (!event) break;
      take(*std::move(event));
      any = true;
    }
    if (any && now() - published_at_ >= kPublishInterval) publish();
    return any;
  }

  // Waits for the next transport event, the alarm or the end of the drain. post() and a finished
  // job end the wait through transport_.wake().
  void sleep() {
    publish();
    Time wait = kSleepMax;
    if (alarm_) wait = std::clamp(*alarm_ - now(), Time(0), wait);
    if (end_) wait = std::clamp(*end_ - now(), Time(0), wait);
    if (auto event = transport_.next(wait)) take(*std::move(event));
  }

  // Gives Woke if the alarm is due. The alarm is cleared first: the actor may set it again in on().
  bool ring() {
    if (!alarm_ || now() < *alarm_) return false;
    alarm_.reset();
    give(Woke{});
    return true;
  }

  bool take_result() {
    if constexpr (kHasJob) {
      if (auto ran = compute_->take()) {
        progress_.job_ended();
        give(*std::move(ran));
        return true;
      }
    }
    return false;
  }

  // Events that the actor does not list in its Event variant are dropped at compile time.
  void take(TransportEvent event) {
    std::visit(
        [this]<class E>(E&& e) {
          if constexpr (std::is_same_v<std::decay_t<E>, FrameFrom>)
            decode(e);
          else if constexpr (kHears<std::decay_t<E>>)
            give(std::forward<E>(e));
        },
        std::move(event));
  }

  void decode(const FrameFrom& from) {
    switch (from.frame.boundary) {
      case Boundary::control:
        return route(from.peer, wire::decode_control(from.frame.bytes));
      case Boundary::generate:
        return route(from.peer, wire::decode_generate(from.frame.bytes));
      case Boundary::draft:
        return route(from.peer, wire::decode_draft(from.frame.bytes));
    }
  }

  // Gives the actor the messages that its Event lists as From<M>. Any other well-formed message is
  // counted, and is a strike for its sender (Malformed) just as one that does not decode.
  template <class Message>
  void route(Peer peer, Result<Message> message) {
    if (!message) {
      ++counters_.undecodable;
      return complain(peer, std::move(message.error().message));
    }
    std::visit(
        [&]<class M>(M&& m) {
          if constexpr (kHears<From<std::decay_t<M>>>) {
            give(From<std::decay_t<M>>{peer, std::forward<M>(m)});
          } else {
            ++counters_.misdirected;
            complain(peer, "a message that this role does not take");
          }
        },
        *std::move(message));
  }

  void complain(Peer peer, std::string why) {
    if constexpr (kHears<Malformed>) give(Malformed{peer, std::move(why)});
  }

  // One event, then its effects: first the job, so that the compute thread does not wait for
  // messages to be sent, then the others in their order. Performing an effect never gives the actor
  // another event, so effects_ is not changed while it is read.
  template <class E>
  void give(E event) {
    ++counters_.events;
    effects_.clear();
    actor_.on(Event(std::move(event)), now(), effects_);
    for (const bool jobs : {true, false}) {
      for (Effect& effect : effects_) {
        std::visit(
            [&]<class F>(F& f) {
              if (std::is_same_v<F, Run<J>> == jobs) perform(f);
            },
            effect);
      }
    }
  }

  template <class M>
  void perform(To<M>& to) {
    using Message = std::conditional_t<is_one_of<M, ControlMessage>, ControlMessage,
                                       std::conditional_t<is_one_of<M, GenerateMessage>, GenerateMessage, DraftMessage>>;
    transport_.send(to.peer, Frame{boundary_of<M>(), wire::encode(Message(std::move(to.message)))});
  }
  void perform(Connect& connect) { transport_.connect(connect.peer, connect.endpoint); }
  void perform(Disconnect& disconnect) { transport_.disconnect(disconnect.peer); }
  void perform(WakeAt& wake) { alarm_ = wake.at; }
  void perform(Run<J>& run) {
    static_assert(kHasJob);
    progress_.job_began(now());
    compute_->submit(std::move(run.job));
  }
  void perform(Note& note) { log_note(note); }
  void perform(Span& span) { record({std::move(span), began_at_}); }
  template <class E>
  void perform(E& effect) {
    local_(std::move(effect));
  }

  void publish() {
    counters_.transport = transport_.counters();
    published_actor_.publish(actor_.counters());
    published_loop_.publish(counters_);
    published_at_ = now();
  }

  // Used by the loop's thread only.
  A& actor_;
  Transport& transport_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  const std::chrono::system_clock::time_point began_at_ = std::chrono::system_clock::now();
  std::vector<Effect> effects_;  // of the event at hand; a member to reuse its memory
  std::optional<Time> alarm_;
  std::optional<Time> end_;  // when the drain's grace ends; empty before the drain
  LoopCounters counters_;
  Time published_at_{0};

  // Shared with other threads.
  Progress progress_;
  BoundedQueue<Event> inbox_{kInboxEventsMax};
  std::atomic<uint64_t> inbox_full_{0};
  Published<Counters> published_actor_;
  Published<LoopCounters> published_loop_{LoopCounters{}};

  // Last members: their threads end before the others are destroyed.
  std::optional<ComputeThread<J, R>> compute_;
  Local local_;  // the loop's thread calls it; a thread of its own may post()
};

}  // namespace slipstream
