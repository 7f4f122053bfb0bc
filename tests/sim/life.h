// One life of one process in virtual time. It drives an actor as runtime/actor_loop.h does: with a
// clock that began at its start, one alarm, and at most one compute job. A frozen process (SIGSTOP)
// handles nothing until it is thawed, but its clock runs on.
#pragma once

#include <time.h>

#include <chrono>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/actor/job_of.h"
#include "common/base/check.h"
#include "tests/sim/links.h"

namespace slipstream::sim {

// What this thread has computed so far. A machine that others use, too, does not make it longer.
inline std::chrono::nanoseconds thread_time() {
  timespec time{};
  CHECK(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0, "a thread has no clock");
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

// The world in which processes live. Ended processes are kept until the world ends, since a late
// happening may refer to them.
struct Place {
  VirtualTime& time;
  Links& links;
  Trace& trace;
  bool timed = false;  // Life::spent() is measured
};

class Process : public Listener {
 public:
  Process(Place place, Incarnation incarnation, std::string name)
      : place_(place), incarnation_(incarnation), name_(std::move(name)), born_(place.time.now()) {}

  Incarnation incarnation() const { return incarnation_; }
  const std::string& name() const { return name_; }
  bool alive() const { return alive_; }
  bool frozen() const { return frozen_; }

  void kill(bool by_itself = false) {
    place_.trace.line(name_, "{}", by_itself ? "ends" : "KILLED");
    alive_ = false;
    happenings_.clear();
    place_.links.close(incarnation_);
  }
  void freeze() {
    place_.trace.line(name_, "FROZEN");
    frozen_ = true;
    place_.links.freeze(incarnation_);
  }
  void thaw() {
    place_.trace.line(name_, "GOES ON, {} events wait", happenings_.size());
    frozen_ = false;
    place_.links.thaw(incarnation_);
    while (alive_ && !frozen_ && !happenings_.empty()) {
      auto happening = std::move(happenings_.front());
      happenings_.pop_front();
      happening();
    }
  }
  // begin_drain() tells it to stop; it drains, and ends once done() is true.
  virtual void begin_drain() = 0;
  virtual bool done() const = 0;
  bool leaving() const { return leaving_; }
  void slow_down(double factor) {  // factor on the duration of its compute jobs
    if (factor == slowness_) return;
    if (factor > 1)
      place_.trace.line(name_, "SLOW, by {:.0f}", factor);
    else
      place_.trace.line(name_, "as fast as before");
    slowness_ = factor;
  }
  // The compute job does not end until come_round(); everything else continues.
  void hang() {
    place_.trace.line(name_, "HANGS");
    hung_ = true;
  }
  void come_round() {
    if (std::exchange(hung_, false)) place_.trace.line(name_, "COMES ROUND");
    if (held_) happen(*std::exchange(held_, std::nullopt));
  }
  void say(Peer peer, Message message) { place_.links.send(incarnation_, peer, std::move(message)); }

 protected:
  // Runs `what` now; if the process is frozen, when it thaws; if it is dead, never.
  void happen(VirtualTime::Happening what) {
    if (!alive_) return;
    if (frozen_)
      happenings_.push_back(std::move(what));
    else
      what();
  }
  Time clock() const { return place_.time.now() - born_; }
  Time in_world(Time own) const { return own + born_; }
  Time at_its_speed(Time duration) const {
    return Time(static_cast<int64_t>(static_cast<double>(duration.count()) * slowness_));
  }

  Place place_;
  bool leaving_ = false;
  bool hung_ = false;
  std::optional<VirtualTime::Happening> held_;  // the end of the job, while hung

 private:
  Incarnation incarnation_;
  std::string name_;
  Time born_;
  bool alive_ = true, frozen_ = false;
  double slowness_ = 1;
  std::deque<VirtualTime::Happening> happenings_;  // what happened while frozen
};

template <class Config>
Incarnation incarnation_of(const Config& config) {
  if constexpr (requires { config.process; })
    return config.process.incarnation;  // a worker's configuration
  else
    return config.incarnation;
}

// Work: runs a job and says how long it takes; std::monostate for actors without jobs. Local:
// handles each effect that is not a message, link, job, note or alarm. It also sees every message
// before it is sent, and may change it.
template <Actor A, class Work, class Local>
class Life final : public Process {
 public:
  using Event = typename A::Event;
  using Effect = typename A::Effect;
  using Job = typename JobOf<Event>::Job;
  using Outcome = typename JobOf<Event>::Outcome;

  // parts: what the actor's constructor takes beside its configuration.
  template <class Config, class... Parts>
  Life(Place place, std::string name, Config config, std::optional<std::string> endpoint, Work work, Local local,
       Parts... parts)
      : Process(place, incarnation_of(config), std::move(name)),
        actor_(std::move(config), std::move(parts)...),
        work_(std::move(work)),
        local_(std::move(local)) {
    place_.trace.line(this->name(), "begins as {:016x}", incarnation());
    place_.links.open(incarnation(), this->name(), *this, std::move(endpoint));
    tell(Woke{});
  }

  const A& actor() const { return actor_; }
  uint64_t events() const { return events_; }                // that the actor was given
  std::chrono::nanoseconds spent() const { return spent_; }  // of the thread in the actor, if the place is timed
  Work& work() { return work_; }

  void post(Event event) {  // called by another thread of this process
    happen([this, event = std::move(event)]() mutable { tell(std::move(event)); });
  }

  void post_in(Time delay, Event event) {  // after work of that thread
    place_.time.in(at_its_speed(delay), [this, event = std::move(event)]() mutable { post(std::move(event)); });
  }

  void begin_drain() override {
    place_.trace.line(name(), "is told to stop");
    leaving_ = true;
    post(local_.drain());
  }
  bool done() const override { return local_.done(actor_); }

  void up(Peer peer) override {
    happen([this, peer] { tell(PeerUp{peer}); });
  }
  void down(Peer peer) override {
    happen([this, peer] { tell(PeerDown{peer}); });
  }
  void hear(Peer peer, Message message) override {
    happen([this, peer, message = std::move(message)]() mutable { take(peer, std::move(message)); });
  }

 private:
  template <class E>
  static constexpr bool kHears = is_one_of<E, Event>;

  void take(Peer peer, Message message) {
    std::visit(
        [&]<class M>(M&& m) {
          if constexpr (kHears<From<std::decay_t<M>>>)
            tell(From<std::decay_t<M>>{peer, std::forward<M>(m)});
          else
            tell(Malformed{peer, "a message that this role does not take"});
        },
        std::move(message));
  }

  void tell(Event event) {
    std::vector<Effect> effects;
    ++events_;
    if (place_.timed) {
      const std::chrono::nanoseconds began = thread_time();
      actor_.on(std::move(event), clock(), effects);
      spent_ += thread_time() - began;
    } else {
      actor_.on(std::move(event), clock(), effects);
    }
    for (Effect& effect : effects) {
      std::visit([this]<class E>(E& e) { perform(e); }, effect);
    }
    local_.after(*this);
  }

  template <class M>
  void perform(To<M>& to) {
    if constexpr (requires { local_.sends(*this, to); }) local_.sends(*this, to);
    say(to.peer, std::move(to.message));
  }
  void perform(Connect& connect) { place_.links.connect(incarnation(), connect.peer, connect.endpoint); }
  void perform(Disconnect& disconnect) { place_.links.disconnect(incarnation(), disconnect.peer); }
  void perform(Span&) {}  // nobody collects traces of a simulated world
  void perform(Note& note) { place_.trace.line(name(), "{}: {}", note.warning ? "warns" : "notes", note.text); }
  void perform(WakeAt& wake) {
    alarm_ = wake.at;
    place_.time.at(in_world(wake.at), [this, at = wake.at] {
      happen([this, at] {
        if (alarm_ != at) return;  // a later WakeAt has replaced this alarm
        alarm_.reset();
        tell(Woke{});
      });
    });
  }
  void perform(Run<Job>& run) {
    CHECK(!std::exchange(computing_, true), "{} runs two jobs at once", name());
    const Time takes = work_.takes(run.job);  // before the job is moved: arguments are evaluated in any order
    place_.time.in(at_its_speed(takes), [this, job = std::move(run.job)]() mutable {
      auto end = [this, job = std::move(job)]() mutable {
        computing_ = false;
        Result<Outcome> result = work_.run(job);
        tell(Ran<Job, Outcome>{std::move(job), std::move(result)});
      };
      if (hung_)
        held_ = std::move(end);
      else
        happen(std::move(end));
    });
  }
  template <class E>
  void perform(E& effect) {
    local_.takes(*this, std::move(effect));
  }

  A actor_;
  Work work_;
  Local local_;
  std::optional<Time> alarm_;
  bool computing_ = false;
  uint64_t events_ = 0;
  std::chrono::nanoseconds spent_{};
};

}  // namespace slipstream::sim
