// Runs one scenario: a deployment of the product's own actors in virtual time, with the oracles
// that check it.
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

inline constexpr Time kScrapeEvery = std::chrono::milliseconds(250);  // if routers tune

std::string name(const Machine& machine);  // "verifier-3"

struct Verdict {
  std::optional<std::string> broken;  // the violated oracle and how it was violated
  Tallies tallies;
  uint64_t happenings = 0;
  Time end{};
  Time longest_pause{};  // of one answer, between two deliveries
};

class World {
 public:
  World(Scenario scenario, bool trace);
  ~World();
  // Runs the scenario until every request has ended and leases have expired. Stops at the first
  // violation. Call it once.
  Verdict live();
  const std::vector<Client>& clients() const { return clients_; }
  // What the first router's tuner had set at each scrape.
  const std::vector<std::pair<Time, TunerSetting>>& settings() const { return settings_; }
  const std::vector<std::string>& trace() const { return trace_.lines(); }  // empty unless the world traces

 private:
  // One machine and its processes, the newest last. Ended ones stay for late happenings and for the
  // final checks.
  template <class L>
  struct Home {
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
  void ask_followers(RequestId request);  // of a request that has ended
  void scrape();                          // every router reads every worker's page, now and again
  void tell_end(RequestId request);       // writes the end of a request into the trace
  bool all_ended() const;

  // Oracles. Each returns a sentence if it is violated.
  std::optional<std::string> complaint();
  std::optional<std::string> unended() const;
  std::optional<std::string> leftovers() const;
  std::optional<std::string> wrongly_verified() const;
  std::optional<std::string> wrong_verdicts() const;
  std::optional<std::string> wrong_features() const;
  Tallies tallies() const;

  Scenario scenario_;
  std::vector<ToyDistribution> distributions_;  // of each numerics, see VerifierTraits::other_numerics
  VirtualTime time_;
  Trace trace_;
  Links links_;
  RandomSource random_;
  std::vector<Machine> machines_;
  std::vector<Home<RouterLife>> routers_;
  std::vector<Home<VerifierLife>> verifiers_;
  std::vector<Home<DrafterLife>> drafters_;
  std::vector<Client> clients_;
  // Which process was asked by which client (its index). The request of client i has the id i + 1.
  std::set<std::pair<const Process*, size_t>> asked_;
  std::vector<std::pair<Time, TunerSetting>> settings_;
  size_t settled_ = 0;                 // the first `settled_` clients have ended and been checked
  std::optional<std::string> broken_;  // a violation that was found during an event
  Tallies tallies_;                    // counts of faults; the others are added up at the end
};

}  // namespace slipstream::sim
