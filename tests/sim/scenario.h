// What one seed stands for: who takes part, what the network is like, who asks what, and what goes
// wrong when. All of it is sampled before the run begins, so that a person can read it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "services/router/request.h"
#include "tests/sim/network.h"
#include "tests/sim/toy_model.h"

namespace slipstream::sim {

inline constexpr Time kFaultsEnd = std::chrono::seconds(8);    // of one wave: then the weather is fair and everybody is there
inline constexpr Time kRequestsEnd = std::chrono::seconds(7);  // the last is asked before
inline constexpr Time kWaveEvery = std::chrono::seconds(20);   // of a soak
inline constexpr int32_t kToyContext = 128;                    // tokens

enum class Kind : uint8_t { router, verifier, drafter };
struct Machine {  // where one process after another lives
  Kind kind = Kind::router;
  int index = 0;
  bool operator==(const Machine&) const = default;
};

struct VerifierTraits {
  bool other_numerics = false;  // its bits differ: it cannot go on where one of the others fell
  int32_t cache_blocks = 0;
  int32_t step_rows_max = 0;
};
struct DrafterTraits {
  double noise = 0;           // of its model: 0 is the target itself
  double siblings = 0;        // share of its nodes that have the runner-up beside them
  bool new_endpoint = false;  // each life binds another one
  bool runs_ahead = false;    // sends trees for what it thinks comes next, too
  double mischief = 0;        // share of its trees that are spoilt
  bool misplaced = false;     // and how: for something else than their fence says, instead of no trees at all
};

struct Ask {  // of one client
  Time when{};
  int router = 0;
  std::vector<TokenId> prompt;
  SamplingParams sampling;
  uint64_t seed = 0;
  int32_t output_max = 0;
  std::vector<TokenId> stop_ids;
  bool speculate = true;
  Rule rule = Rule::coupled;
  LogitsParams logits_params = {};
  std::optional<Time> patience;  // it goes away so long after asking
};

struct Fault {
  enum class What : uint8_t { kill, freeze, separate, slow, drain, hang };
  What what = What::kill;
  Time when{}, lasts{};  // a killed or drained process is started again so long after its end; a hung one never comes round
  Machine whom, from;    // separate: from whom
  double factor = 1;     // slow: its jobs take so many times longer
};

struct Scenario {
  uint64_t seed = 0;
  int routers = 1;
  std::vector<VerifierTraits> verifiers;
  std::vector<DrafterTraits> drafters;
  std::vector<Time> begins;  // of each machine: routers, verifiers, drafters
  Climate climate;
  double wait_share = 0;          // of the verifiers (speculation/wait_budget.h)
  uint32_t verifier_wait_ms = 0;  // of the routers
  std::vector<Ask> asks;
  std::vector<Fault> faults;

  int waves = 1;                                // of requests and faults, kWaveEvery apart
  bool rolling = false;                         // nothing but drains: no request may fail
  bool calm() const { return faults.empty(); }  // only the network is bad: no request may stall
  Time healed() const { return (waves - 1) * kWaveEvery + kFaultsEnd; }

  static Scenario draw(uint64_t seed);
  // The same processes for so many waves, of which one in ten has faults: what is little in one
  // world adds up here.
  static Scenario soak(uint64_t seed, int waves);
  std::string text() const;
};

}  // namespace slipstream::sim
