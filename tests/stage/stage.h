// Drives one actor in a test: tells it events, records its effects, and moves its clock. Tests then
// read as sentences:
//
//   Stage stage(verifier);                                  // tells it the first event, Woke at time 0
//   stage.hears(kRouter, Welcome{...});
//   EXPECT_EQ(stage.says<Hello>().message.role, Role::verifier);  // the oldest unseen To<Hello>; none: the test fails
//   EXPECT_TRUE(stage.silent<Tokens>());                    // no unseen To<Tokens>
//   VerifyPlan& plan = stage.runs<VerifyPlan>();            // the job that it wants to run
//   stage.finishes(StepOutput{...});                        // returns the job and its result
//   stage.waits(std::chrono::milliseconds(3));              // time passes; due alarms ring
#pragma once

#include <algorithm>
#include <deque>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "common/actor/actor.h"
#include "common/actor/job_of.h"
#include "common/messages/boundary.h"

namespace slipstream {

template <Actor A>
class Stage {
 public:
  using Event = typename A::Event;
  using Effect = typename A::Effect;
  using Job = typename JobOf<Event>::Job;
  using Outcome = typename JobOf<Event>::Outcome;

  explicit Stage(A& actor) : actor_(actor) { tell(Woke{}); }

  // Events for the actor.
  void tell(Event event) {
    std::vector<Effect> effects;
    actor_.on(std::move(event), now_, effects);
    for (Effect& effect : effects) {
      if (auto* wake = std::get_if<WakeAt>(&effect))
        alarm_ = wake->at;
      else
        effects_.push_back(std::move(effect));
    }
  }
  template <class M>
  void hears(Peer peer, M message) {
    tell(From<M>{peer, std::move(message)});
  }
  void up(Peer peer) { tell(PeerUp{peer}); }
  void down(Peer peer) { tell(PeerDown{peer}); }
  void garbage(Peer peer, std::string why = "garbage") { tell(Malformed{peer, std::move(why)}); }
  void waits(Time duration) {
    const Time end = now_ + duration;
    for (int rings = 0; alarm_ && *alarm_ <= end; ++rings) {
      if (rings == kRingsMax) {
        ADD_FAILURE() << "the alarm keeps ringing at " << now_.count() << " us";
        break;
      }
      now_ = std::max(now_, *std::exchange(alarm_, std::nullopt));
      tell(Woke{});
    }
    now_ = end;
  }

  // Time passes while the process does not run; a due alarm rings at the end.
  void sleeps(Time duration) {
    now_ += duration;
    if (alarm_ && *alarm_ <= now_) {
      alarm_.reset();
      tell(Woke{});
    }
  }

  // Returns the oldest unseen effect of a kind; the others stay unseen. It throws if there is none.
  template <class E>
  E does() {
    const auto at = find<E>();
    if (at == effects_.end()) throw std::logic_error("the actor did nothing of this kind");
    E effect = std::get<E>(std::move(*at));
    effects_.erase(at);
    return effect;
  }
  template <class E>
  bool idle() const {  // no unseen effect of this kind
    return std::ranges::none_of(effects_, [](const Effect& effect) { return std::holds_alternative<E>(effect); });
  }
  template <class M>
  To<M> says() {
    return does<To<M>>();
  }
  template <class M>
  bool silent() const {
    return idle<To<M>>();
  }
  template <class M>
  const To<M>* newest() const {  // the newest unseen one, which stays unseen; null: none
    const auto at = std::ranges::find_if(effects_.rbegin(), effects_.rend(),
                                         [](const Effect& effect) { return std::holds_alternative<To<M>>(effect); });
    return at == effects_.rend() ? nullptr : &std::get<To<M>>(*at);
  }
  void forget() { effects_.clear(); }  // marks all effects as seen

  // Compute jobs. At most one runs at a time.
  template <class J = Job>
  J& runs() {
    EXPECT_FALSE(job_) << "a job runs already";
    job_ = does<Run<J>>().job;
    return *job_;
  }
  template <class J = Job>
  bool rests() const {  // wants to run no job
    return idle<Run<J>>();
  }
  void finishes(Result<Outcome> result) {
    ASSERT_TRUE(job_) << "no job runs: call runs() first";
    tell(Ran<Job, Outcome>{*std::exchange(job_, std::nullopt), std::move(result)});
  }
  bool running() const { return job_.has_value(); }

  Time now() const { return now_; }
  std::optional<Time> alarm() const { return alarm_; }

 private:
  static constexpr int kRingsMax = 100000;
  template <class E>
  auto find() {
    return std::ranges::find_if(effects_, [](const Effect& effect) { return std::holds_alternative<E>(effect); });
  }

  A& actor_;
  Time now_{0};
  std::optional<Time> alarm_;
  std::deque<Effect> effects_;  // unseen, oldest first
  std::optional<Job> job_;
};

}  // namespace slipstream
