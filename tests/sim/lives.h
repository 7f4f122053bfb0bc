// The three kinds of process: the product's actors with toy models instead of real ones, and the
// checks that follow each event.
#pragma once

#include <functional>

#include "services/drafter/draft_job.h"
#include "services/drafter/drafter.h"
#include "services/router/router.h"
#include "services/verifier/verifier.h"
#include "tests/sim/life.h"
#include "tests/sim/scenario.h"
#include "tests/sim/toy_method.h"
#include "tests/sim/toy_model.h"

namespace slipstream::sim {

struct NoWork {};

// What steps of that speed take, as a verifier knows that has measured them.
CostModel cost_model(const StepSpeed& speed);

class VerifyWork {
 public:
  // head_noise: of the target's draft head, should it be asked.
  VerifyWork(ToyDistribution distribution, double head_noise, int32_t cache_blocks, uint64_t seed, StepSpeed speed = {})
      : target_(distribution, cache_blocks), head_noise_(head_noise), speed_(speed), random_(seed, "verify") {}
  Time takes(const VerifyPlan& plan) {
    const bool drafts = !plan.head_asks.empty();
    return took_ = drafts ? Time(random_.between(100, 1500))
                          : random_.between(speed_.least, speed_.most) + speed_.row * plan.step.rows();
  }
  // For rejection tasks, the target's distribution at each row is certain of the token that plain
  // decoding would sample. So sampled trees do not change the words either.
  Result<StepOutput> run(VerifyPlan& plan);
  uint64_t sampled_trees() const { return sampled_trees_; }
  uint64_t head_trees() const { return head_trees_; }

 private:
  StepOutput draft(VerifyPlan& plan);

  ToyTarget target_;
  double head_noise_;
  StepSpeed speed_;
  uint64_t head_trees_ = 0;  // trees of the head with nodes
  Time took_{};
  uint64_t sampled_trees_ = 0;  // sampled trees with nodes
  RandomSource random_;
};

class DraftWork {
 public:
  DraftWork(ToyDistribution distribution, const DrafterTraits& traits, uint64_t seed)
      : method_(distribution, traits.siblings, seed, traits.odd_noise), level_(traits.level), random_(seed, "draft") {}
  Time takes(const DraftPlan& plan);  // all asks share each level
  Result<Drafts> run(DraftPlan& plan);
  ToyMethod& method() { return method_; }

 private:
  ToyMethod method_;
  Time level_;
  Time took_{};
  RandomSource random_;
};

using Breach = std::function<void(std::string)>;  // reports a violated oracle

// Passes the router's deliveries to the clients.
class ToClients {
 public:
  ToClients(std::function<void(Delivery)> deliver, std::function<void(Failure)> fail, Breach breach)
      : deliver_(std::move(deliver)), fail_(std::move(fail)), breach_(std::move(breach)) {}
  static Router::Event drain() { return Closing{}; }
  static bool done(const Router& router) { return router.counters().live + router.counters().waiting == 0; }
  void takes(Process&, Delivery&& delivery) { deliver_(std::move(delivery)); }
  void takes(Process&, StillHere&&) {}
  void takes(Process&, Failure&& failure) { fail_(std::move(failure)); }
  void after(const Life<Router, NoWork, ToClients>& life);

 private:
  std::function<void(Delivery)> deliver_;
  std::function<void(Failure)> fail_;
  Breach breach_;
};

// Compiles the verifier's grammars beside it, and lets them follow outputs, in any order. Checks
// its counters after each event.
class WatchVerifier {
 public:
  WatchVerifier(int32_t sequences_max, Breach breach, uint64_t seed)
      : sequences_max_(sequences_max), breach_(std::move(breach)), random_(seed, "grammars") {}
  static Verifier::Event drain() { return From<Drain>{Peer{}, {"told to stop"}}; }
  static bool done(const Verifier& verifier) { return verifier.counters().live == 0; }
  void takes(Life<Verifier, VerifyWork, WatchVerifier>& life, CompileGrammar&& asked);
  void takes(Life<Verifier, VerifyWork, WatchVerifier>& life, FollowGrammar&& asked);
  void after(const Life<Verifier, VerifyWork, WatchVerifier>& life);

 private:
  int32_t sequences_max_;
  Breach breach_;
  RandomSource random_;
};

// Makes a drafter misbehave: it may run ahead of the verifier, or change trees before they are
// sent, so that they are invalid or have a wrong fence. Checks the drafter's counters after each
// event.
class Misbehaviour {
 public:
  Misbehaviour(const DrafterTraits& traits, uint64_t seed, Breach breach)
      : traits_(traits), random_(seed, "temper"), breach_(std::move(breach)) {}
  static Drafter::Event drain() { return From<Drain>{Peer{}, {"told to stop"}}; }
  static bool done(const Drafter&) { return true; }
  void sends(Life<Drafter, DraftWork, Misbehaviour>& life, To<Tree>& tree);
  void after(const Life<Drafter, DraftWork, Misbehaviour>& life);

 private:
  void run_ahead(Life<Drafter, DraftWork, Misbehaviour>& life, const To<Tree>& tree);
  void spoil(Tree& tree);
  void misplace(Tree& tree);

  DrafterTraits traits_;
  RandomSource random_;
  Breach breach_;
};

using RouterLife = Life<Router, NoWork, ToClients>;
using VerifierLife = Life<Verifier, VerifyWork, WatchVerifier>;
using DrafterLife = Life<Drafter, DraftWork, Misbehaviour>;

}  // namespace slipstream::sim
