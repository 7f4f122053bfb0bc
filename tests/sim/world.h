// A deployment of the product's own actors in virtual time, living through one scenario, and the
// oracles that judge it.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/sim/client.h"
#include "tests/sim/lives.h"
#include "tests/sim/scenario.h"
#include "tests/sim/tallies.h"

namespace slipstream::sim {

struct Verdict {
  std::optional<std::string> broken;  // the oracle that was violated, and how
  Tallies tallies;
  uint64_t happenings = 0;
  Time end{};
  Time longest_pause{};  // of one answer, between two deliveries
};

class World {
 public:
  World(Scenario scenario, bool trace);
  ~World();
  Verdict live();
  const std::vector<std::string>& trace() const { return trace_.lines(); }

 private:
  template <class L>
  struct Home {  // of one machine: its lives, the newest last; the dead stay, for late happenings and the audit
    std::string name;
    std::vector<std::unique_ptr<L>> lives;
    L* now() const { return lives.empty() || !lives.back()->alive() ? nullptr : lives.back().get(); }
  };

  void begin(const Machine& machine);
  void begin_router(int index);
  void begin_verifier(int index);
  void begin_drafter(int index);
  Breach breach();
  std::vector<std::string> router_endpoints() const;
  Process* process(const Machine& machine) const;
  Home<RouterLife>& router(int index) { return routers_[static_cast<size_t>(index)]; }

  void plan();
  void plan(const Fault& fault);
  void kill(const Machine& machine, bool by_itself = false);
  void drain(const Fault& fault, Incarnation whom, Time latest);
  void heal();
  void ask(size_t client);
  void tell_end(RequestId request);  // in the trace
  bool all_ended() const;

  // Oracles. Each gives a sentence if it is violated.
  std::optional<std::string> complaint();
  std::optional<std::string> unended() const;
  std::optional<std::string> leftovers() const;
  Tallies tallies() const;

  Scenario scenario_;
  std::vector<ToyDistribution> distributions_;  // of the numerics there are
  VirtualTime time_;
  Trace trace_;
  Network network_;
  RandomSource random_;
  std::vector<Machine> machines_;
  std::vector<Home<RouterLife>> routers_;
  std::vector<Home<VerifierLife>> verifiers_;
  std::vector<Home<DrafterLife>> drafters_;
  std::vector<Client> clients_;
  std::set<std::pair<const Process*, size_t>> asked_;  // which life was asked by which client; request i + 1 is of client i
  size_t settled_ = 0;                                 // so many clients, the first ones, have ended and were judged
  std::optional<std::string> broken_;                  // found while it ran
  Tallies tallies_;                                    // of faults; the rest is counted at the end
};

}  // namespace slipstream::sim
