// Everything that one seed determines: the processes, the network, the requests and the faults. It
// is sampled before the run begins, so that a person can read it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "services/router/request.h"
#include "tests/sim/links.h"
#include "tests/sim/toy_model.h"

namespace slipstream::sim {

// End of the faults of one wave. Afterwards the weather is fair and every process runs.
inline constexpr Time kFaultsEnd = std::chrono::seconds(8);
inline constexpr Time kRequestsEnd = std::chrono::seconds(7);  // the last request is sent before
inline constexpr Time kWaveEvery = std::chrono::seconds(20);   // period of the waves of a soak
inline constexpr int32_t kToyContext = 128;                    // longest sequence, in tokens

enum class Kind : uint8_t { router, verifier, drafter };
struct Machine {  // the place of one process and its successors
  Kind kind = Kind::router;
  int index = 0;
  bool operator==(const Machine&) const = default;
};

// What a verify step takes.
struct StepSpeed {
  Time least{2000}, most{6000};
  Time row{30};  // added for each row
};

struct VerifierTraits {
  bool other_numerics = false;  // its bits differ: it cannot continue a sequence of the others
  int32_t cache_blocks = 0;
  int32_t step_rows_max = 0;
  int32_t sequences_max = kCpuSequences;
  bool resident = false;            // look-up runs inside it
  std::optional<double> head = {};  // noise of its target's draft head; 0: the head is the target itself; unset: it has none
  bool sends_features = false;      // to drafters that read them
  bool slow_grammars = false;       // masks are too much work for its loop and its steps
  bool knows_costs = false;         // of every life; else every other one begins with a wrong cost model
  StepSpeed speed = {};
};
struct DrafterTraits {
  double noise = 0;                      // of its model; 0: the target itself
  std::optional<double> odd_noise = {};  // of requests with an odd seed; unset: as of the others
  double siblings = 0;                   // share of its nodes that get the runner-up as a sibling
  std::string model = {};                // as it says; a sequence has one drafter of each
  bool reads_features = false;           // it drafts for the verifiers that send them
  Time level{};                          // that each level of its chains takes
  bool new_endpoint = false;             // each life binds another endpoint
  bool runs_ahead = false;               // also sends trees for bases that it expects the verifier to reach
  double mischief = 0;                   // share of its trees that it changes before it sends them
  // How it changes them. true: the fence names another round, epoch, hash or base length, and the
  // nodes are wrong. false: the tree is invalid.
  bool misplaced = false;
};

struct Ask {  // one client's request
  Time when{};
  int router = 0;
  std::vector<TokenId> prompt;
  SamplingParams sampling;
  uint64_t seed = 0;
  int32_t output_max = 0;
  std::vector<TokenId> stop_ids;
  bool speculate = true;
  bool scores = false;  // it wants the logprobs of its prompt
  Rule rule = Rule::coupled;
  int32_t priority = 0;
  LogitsParams logits_params = {};
  GrammarText grammar = {};
  std::optional<Time> patience;      // time after the request at which it goes away
  std::optional<size_t> after = {};  // sent when that request has ended, and not at `when`
  std::optional<Time> latest = {};   // it is not sent after this moment, nor what follows it
};

struct Fault {
  enum class What : uint8_t { kill, freeze, separate, slow, drain, hang };
  What what = What::kill;
  // lasts: a killed or drained process restarts this long after its end. A hung one recovers only
  // at the end of the world.
  Time when{}, lasts{};
  Machine whom, from;  // `from`: for separate, the second process
  double factor = 1;   // slow: factor on the duration of its jobs
};

struct Scenario {
  uint64_t seed = 0;
  int routers = 1;
  std::vector<VerifierTraits> verifiers;
  std::vector<DrafterTraits> drafters;
  std::vector<Time> begins;  // of each machine: routers, verifiers, drafters
  Climate climate;
  std::map<Time, Climate> later_climates;  // from that moment on
  double wait_share = 0;                   // of the verifiers (speculation/wait_budget.h)
  uint32_t verifier_wait_ms = 0;           // of the routers
  uint32_t queue_wait_ms = 0;              // of the routers; 0: no request is refused for its expected wait
  bool tunes = false;                      // routers read their workers' pages and tune h by them
  float first_threshold = 1;               // h until then
  std::optional<Time> deadline;            // of a tree; unset: as where nothing drafts with a model
  std::vector<Ask> asks;
  std::vector<Fault> faults;

  int waves = 1;                                // of requests and faults, kWaveEvery apart
  bool rolling = false;                         // only drains happen: no request may fail
  bool calm() const { return faults.empty(); }  // only the network is bad: no request may stall
  Time healed() const { return (waves - 1) * kWaveEvery + kFaultsEnd; }

  // Samples the scenario of a seed, the same on every machine.
  static Scenario draw(uint64_t seed);
  // Runs the same processes for `waves` waves, of which one in ten has faults. Leaks that are small
  // in one world add up here.
  static Scenario soak(uint64_t seed, int waves);
  std::string text() const;  // for a person
};

}  // namespace slipstream::sim
