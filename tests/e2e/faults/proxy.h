// Stands before one upstream: listens, relays each connection, cuts some. One thread, one poll
// loop.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "tests/e2e/faults/relay.h"

namespace slipstream::faults {

inline constexpr size_t kRelaysMax = 1024;  // connections at once; more are refused

struct ProxyPlan {
  Endpoint upstream;
  Weather weather;
  Time cut_every{};  // on average some connection is cut so often; 0: none
  uint64_t seed = 1;
};

class Proxy {
 public:
  Proxy(Socket listener, ProxyPlan plan)
      : listener_(std::move(listener)), plan_(std::move(plan)), cut_random_(plan_.seed, "cuts") {
    plan_cut(Time(0));
  }

  // Waits for something to do, or until `other` (an fd) is readable: then true. now(): since any
  // fixed moment.
  template <class Clock>
  bool step(int other, Clock&& now) {
    const bool readable = wait(other, now());
    serve(now());
    return readable;
  }
  const Tally& tally() const { return tally_; }

 private:
  bool wait(int other, Time now);
  void serve(Time now);
  void accept_all();
  void plan_cut(Time now);
  void cut_one(Time now);

  Socket listener_;
  ProxyPlan plan_;
  sim::RandomSource cut_random_;
  std::optional<Time> next_cut_;
  Tally tally_;
  std::vector<std::unique_ptr<Relay>> relays_;
  std::vector<pollfd> items_;  // of the last wait(): other, listener, two for each relay that there was
};

}  // namespace slipstream::faults
