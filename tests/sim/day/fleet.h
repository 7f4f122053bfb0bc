// Pods of the product's own actors in virtual time. Pools of them grow and shrink as Deployments
// do: a new pod takes a while to start, one that goes drains first. Clients ask; what they waited
// is written down. Nothing else goes wrong here: faults are the matter of world.h.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/sim/day/load.h"
#include "tests/sim/day/series.h"
#include "tests/sim/lives.h"

namespace slipstream::sim {

struct FleetConfig {
  int routers = 2;
  std::array<Time, 3> starts{};  // [Kind] what a pod takes from its creation until its process runs
  StepSpeed speed;               // of the verifiers
  DrafterTraits drafter;
  int32_t cache_blocks = 512;  // of a verifier
  Tuning tuning;               // of the drafters
  Time spread{};               // over which the pods that are created at once start
  bool timed = false;          // what each actor computes is measured (Life::spent)
  uint64_t seed = 1;
};

struct Answer {  // to one request
  Time asked{}, first{}, last{};
  int32_t wanted = 0, tokens = 0;
  int failed = 0;                                                // the status of its failure
  bool refused() const { return failed == 429 && tokens == 0; }  // and asked to come back
  bool whole() const { return tokens == wanted; }
};

class Fleet {
 public:
  explicit Fleet(FleetConfig config);

  VirtualTime& time() { return time_; }
  // So many pods of this kind are wanted: others are created, or the newest go.
  void scale(Kind kind, int pods);
  int pods(Kind kind) const;          // that are wanted, those that start still included
  int running(Kind kind) const;       // whose process runs and does not leave
  double pod_hours(Kind kind) const;  // of all that were ever created, until now

  void ask(const DayRequest& request);
  const std::vector<Answer>& answers() const { return answers_; }

  // What Prometheus does: reads the pages of all pods, as targets of the namespace "day" and, for
  // drafters, of the pool "toy".
  void scrape(Series& series) const;

  // take(process) of those that run and that it takes: of routers, where it takes a RouterLife.
  template <class Take>
  void each(const Take& take) const;
  const LinkTallies& links() const { return links_.tallies(); }

 private:
  template <class L>
  struct Pod {
    std::string name;
    Time created{};
    std::unique_ptr<L> life = {};  // null: it starts, or went before it ran
    bool going = false;
    std::optional<Time> ended = {};
    bool running() const { return life != nullptr && life->alive() && !going; }
  };
  template <class L>
  using Pods = std::vector<Pod<L>>;

  template <class Take>
  auto of(Kind kind, const Take& take);  // take(the kind's pods)
  template <class Take>
  auto of(Kind kind, const Take& take) const;
  template <class L>
  void go(Pods<L>& pods, size_t at);
  void begin(Kind kind, size_t at);
  void take(const Delivery& delivery);

  FleetConfig config_;
  VirtualTime time_;
  Trace trace_{time_, false};
  Links links_;
  RandomSource random_;
  std::vector<std::string> router_endpoints_;
  Pods<RouterLife> routers_;
  Pods<VerifierLife> verifiers_;
  Pods<DrafterLife> drafters_;
  std::vector<Answer> answers_;  // of the request with the id i + 1
};

template <class Take>
auto Fleet::of(Kind kind, const Take& take) {
  return kind == Kind::router ? take(routers_) : kind == Kind::verifier ? take(verifiers_) : take(drafters_);
}
template <class Take>
auto Fleet::of(Kind kind, const Take& take) const {
  return kind == Kind::router ? take(routers_) : kind == Kind::verifier ? take(verifiers_) : take(drafters_);
}
template <class Take>
void Fleet::each(const Take& take) const {
  const auto of_pods = [&]<class L>(const Pods<L>& pods) {
    if constexpr (std::is_invocable_v<Take, const L&>) {
      for (const Pod<L>& pod : pods) {
        if (pod.life != nullptr && pod.life->alive()) take(*pod.life);
      }
    }
  };
  of_pods(routers_);
  of_pods(verifiers_);
  of_pods(drafters_);
}

}  // namespace slipstream::sim
