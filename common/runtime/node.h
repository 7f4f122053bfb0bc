// Drives one actor in the real world: frames in and out through a Transport, jobs on a
// ComputeThread, the clock, one alarm, and a bounded inbox for local events from other threads
// (HTTP). run() is the loop; everything else of the actor happens on its thread.
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
#include "common/base/log.h"
#include "common/runtime/compute_thread.h"
#include "common/runtime/published.h"
#include "common/runtime/transport.h"
#include "common/wire/codec.h"

namespace slipstream {

// Counters of the loop itself.
struct NodeCounters {
  TransportCounters transport;
  uint64_t misdirected = 0;  // a well-formed message that this role does not take
  uint64_t undecodable = 0;  // a frame whose payload is no message of its boundary
  uint64_t inbox_full = 0;   // local events refused
  uint64_t events = 0;       // given to the actor
};

inline constexpr int kEventsPerTurnMax = 64;                       // of one source, before the others get their turn
inline constexpr std::chrono::milliseconds kPublishInterval{100};  // at the latest, when the loop never sleeps
inline constexpr std::chrono::milliseconds kSleepMax{1000};        // no alarm set: look around this often
inline constexpr std::chrono::milliseconds kDrainLinger{1000};     // what was sent last has this long to leave

// Local: a callable that takes each effect which is neither a message, a link, a job, a note nor
// the alarm (the router's deliveries). struct NoLocal {} where there is none. J, R: the job of the
// actor's Run<J> effect; NoJob where it has none.
struct NoLocal {};
struct NoJob {};

// Actor and transport must outlive the node. The first event is Woke, at about time 0; time is
// microseconds since construction.
template <Actor A, class J = NoJob, class R = NoJob, class Local = NoLocal>
class Node {
 public:
  using Event = typename A::Event;
  using Effect = typename A::Effect;
  using Work = std::function<Result<R>(J&)>;

  Node(A& actor, Transport& transport, Work work = {}, Local local = {})
      : actor_(actor), transport_(transport), local_(std::move(local)), published_actor_(actor.counters()) {
    if constexpr (kHasJob) compute_.emplace(std::move(work), [this] { transport_.wake(); });
  }

  // Returns when stopped; a job that runs then ends in the destructor. Call once; the transport is
  // closed afterwards.
  void run(const std::stop_token& stop) {
    loop(stop);
    leave();
  }
  // When stopped, `told` sees the actor as it is; it is then given `words`, so that it can say
  // farewell, and goes on until it is done(), or for `grace`, at whose end it may be given
  // `final_event`. What it sends last has kDrainLinger to leave. Returns what is left of the grace.
  struct DrainPlan {
    Event words;
    std::chrono::milliseconds grace{0};
    std::function<bool(const A&)> done = [](const A&) { return true; };
    std::optional<Event> final_event = std::nullopt;
    std::function<void(const A&)> told = [](const A&) {};
  };
  std::chrono::milliseconds run(const std::stop_token& stop, DrainPlan drain) {
    loop(stop);
    drain.told(actor_);
    give(std::move(drain.words));
    publish();  // before the inbox closes: whoever is turned away by it can tell that we leave
    end_ = now() + drain.grace;
    while (!drain.done(actor_) && now() < *end_) {
      if (!turn()) sleep();
    }
    inbox_.close();  // who posts now is told; who was told yes is heard
    while (auto event = inbox_.pop()) give(*std::move(event));
    if (!drain.done(actor_) && drain.final_event) give(*std::move(drain.final_event));
    leave();
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::max(*end_ - now(), Time(0)));
  }

  // Thread-safe; false: the inbox is full (counted).
  bool post(Event event) {
    if (!inbox_.push(std::move(event))) {
      inbox_full_.fetch_add(1, std::memory_order_relaxed);
      return false;
    }
    transport_.wake();
    return true;
  }

  auto counters() const { return published_actor_.read(); }  // thread-safe
  NodeCounters node_counters() const {                       // thread-safe
    NodeCounters counters = published_node_.read();
    counters.inbox_full = inbox_full_.load(std::memory_order_relaxed);
    return counters;
  }

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

  void leave() {
    publish();
    transport_.close(kDrainLinger);
  }

  // Everything that is ready, each source in its turn and none for ever. False: nothing was.
  bool turn() {
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

  void sleep() {
    publish();
    Time wait = kSleepMax;
    if (alarm_) wait = std::clamp(*alarm_ - now(), Time(0), wait);
    if (end_) wait = std::clamp(*end_ - now(), Time(0), wait);
    if (auto event = transport_.next(wait)) take(*std::move(event));
  }

  bool ring() {
    if (!alarm_ || now() < *alarm_) return false;
    alarm_.reset();
    give(Woke{});
    return true;
  }

  bool take_result() {
    if constexpr (kHasJob) {
      if (auto ran = compute_->take()) {
        give(*std::move(ran));
        return true;
      }
    }
    return false;
  }

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

  template <class E>
  void give(E event) {
    ++counters_.events;
    effects_.clear();
    actor_.on(Event(std::move(event)), now(), effects_);
    for (Effect& effect : effects_) {
      std::visit([this]<class F>(F& f) { perform(f); }, effect);
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
    compute_->submit(std::move(run.job));
  }
  void perform(Note& note) { log_at(note.warning ? LogLevel::warning : LogLevel::info, "{}", note.text); }
  template <class E>
  void perform(E& effect) {
    local_(std::move(effect));
  }

  void publish() {
    counters_.transport = transport_.counters();
    published_actor_.publish(actor_.counters());
    published_node_.publish(counters_);
    published_at_ = now();
  }

  // Owned by the loop's thread.
  A& actor_;
  Transport& transport_;
  Local local_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::vector<Effect> effects_;
  std::optional<Time> alarm_;
  std::optional<Time> end_;  // while it drains
  NodeCounters counters_;
  Time published_at_{0};

  // Shared with other threads.
  BoundedQueue<Event> inbox_{kInboxEventsMax};
  std::atomic<uint64_t> inbox_full_{0};
  Published<Counters> published_actor_;
  Published<NodeCounters> published_node_{NodeCounters{}};
  std::optional<ComputeThread<J, R>> compute_;  // last: its thread ends before the rest goes
};

}  // namespace slipstream
