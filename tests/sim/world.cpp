#include "tests/sim/world.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "common/drafting/ngram.h"
#include "tests/sim/toy_grammar.h"

namespace slipstream::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Time kLookEvery = milliseconds(200);
constexpr Time kEndMost = seconds(40);         // after healing: every request must have ended by then
constexpr Time kDrainLook = milliseconds(20);  // how often a draining process checks whether it is done
constexpr Time kGrace = seconds(25);           // longest drain
constexpr Time kSettle = seconds(12);          // until leases have ended and drafters have swept
constexpr uint64_t kWeights = 11;              // weights hash of the served model, as workers report it

Fingerprint fingerprint(uint64_t weights) {
  return {.tokenizer = 1, .vocabulary = kToyVocabulary, .eos_ids = {kToyStop}, .weights = weights};
}

// The cost model with which a verifier starts. Every other life gets a wrong one, in which each row
// costs as much as the first. No cost model may change an answer.
CostModel belief(const StepSpeed& speed, bool true_one) {
  if (true_one) return cost_model(speed);
  StepTimes times;
  for (size_t i = 0; i < times.size(); ++i) {
    times[i] = static_cast<double>((speed.least + speed.most).count()) * 0.5e-6 * kCostRows[i];
  }
  return {times, {}};
}

Tuning tuning(const Scenario& scenario) {
  Tuning tuning{.threshold = scenario.first_threshold};
  if (scenario.deadline) tuning.deadline_us = static_cast<uint32_t>(scenario.deadline->count());
  return tuning;
}

}  // namespace

std::string name(const Machine& machine) {
  const char* kinds[] = {"router", "verifier", "drafter"};
  return fmt::format("{}-{}", kinds[static_cast<int>(machine.kind)], machine.index);
}

World::World(Scenario scenario, bool trace)
    : scenario_(std::move(scenario)),
      distributions_{{.weights = scenario_.seed}, {.weights = ~scenario_.seed}},
      trace_(time_, trace),
      links_(time_, trace_, scenario_.seed),
      random_(scenario_.seed, "world"),
      routers_(static_cast<size_t>(scenario_.routers)),
      verifiers_(scenario_.verifiers.size()),
      drafters_(scenario_.drafters.size()) {
  const auto add = [this](Kind kind, size_t count) {
    for (int i = 0; i < static_cast<int>(count); ++i) machines_.push_back({kind, i});
  };
  add(Kind::router, routers_.size());
  add(Kind::verifier, verifiers_.size());
  add(Kind::drafter, drafters_.size());
  // An answer follows the numerics of the verifier on which it started; clients must know both.
  const bool two = std::ranges::any_of(scenario_.verifiers, &VerifierTraits::other_numerics);
  for (size_t i = 0; i < scenario_.asks.size(); ++i) {
    clients_.emplace_back(scenario_.asks[i], i + 1, std::span(distributions_).first(two ? 2 : 1));
  }
}
World::~World() = default;

// --- Processes.

void World::begin(const Machine& machine) {
  switch (machine.kind) {
    case Kind::router:
      return begin_router(machine.index);
    case Kind::verifier:
      return begin_verifier(machine.index);
    case Kind::drafter:
      return begin_drafter(machine.index);
  }
}

// Called when a process violates an oracle. Only the first violation is kept.
Breach World::breach() {
  return [this](std::string found) { broken_ = broken_.value_or(std::move(found)); };
}

std::vector<std::string> World::router_endpoints() const {
  std::vector<std::string> endpoints;
  for (int i = 0; i < scenario_.routers; ++i) endpoints.push_back(fmt::format("tcp://router-{}", i));
  return endpoints;
}

void World::begin_router(int index) {
  Home<RouterLife>& home = router(index);
  // In a calm scenario no process fails, only messages. The process that sent a lost message must
  // repair that itself, so the timeouts that would replace a process or start over are long.
  const bool calm = scenario_.calm();
  const bool heartbeats_come = scenario_.climate[0].lost + scenario_.climate[0].delayed == 0;
  const bool starts_are_lost = scenario_.climate[1].lost > 0;
  const auto life = home.lives.size();
  const RouterConfig config{.incarnation = random_.word() >> 1,
                            .fingerprint = fingerprint(0),
                            .context_max = kToyContext,
                            .tuning = tuning(scenario_),
                            .trust_local = true,
                            .worker_silent_ms = 1500,
                            .worker_forget_ms = 6000,
                            .lease_ms = calm && starts_are_lost ? 10'000U
                                        : heartbeats_come       ? 600U
                                                                : 3000U,
                            .verifier_stuck_ms = calm ? 60'000U : 3000U,
                            .start_give_up_ms = calm ? 60'000U : 2000U,
                            .quiet_ms = calm ? 60'000U : 1000U,
                            .verifier_wait_ms = scenario_.verifier_wait_ms,
                            .queue_wait_ms = scenario_.queue_wait_ms,
                            .rebalance_ms = 100,
                            .rebalance_interval_ms = 50};
  const auto give = [this, index, life](RequestId id, const auto& news) {
    const RouterLife* self = router(index).lives[life].get();
    CHECK(asked_.contains({self, id - 1}), "request {} is of another router", id);
    Client& taker = clients_[id - 1];
    const bool ended = taker.ended();
    news(taker);
    if (taker.ended() == ended) return;
    tell_end(id);
    ask_followers(id);
  };
  ToClients clients(
      [this, give](const Delivery& delivery) {
        give(delivery.request, [&](Client& taker) { taker.take(delivery, time_.now()); });
      },
      [give](const Failure& failure) { give(failure.request, [&](Client& taker) { taker.take(failure); }); }, breach());
  home.lives.push_back(
      std::make_unique<RouterLife>(Place{time_, links_, trace_}, fmt::format("{}.{}", name({Kind::router, index}), life + 1),
                                   config, router_endpoints()[static_cast<size_t>(index)], NoWork{}, std::move(clients)));
}

void World::begin_verifier(int index) {
  const VerifierTraits& traits = scenario_.verifiers[static_cast<size_t>(index)];
  auto& lives = verifiers_[static_cast<size_t>(index)].lives;
  const VerifierConfig config{
      .process = {.incarnation = random_.word() >> 1, .routers = router_endpoints()},
      .fingerprint = fingerprint(kWeights),
      .numerics_id = traits.other_numerics ? "toy b" : "toy a",
      .cost = belief(traits.speed, traits.knows_costs || (static_cast<size_t>(index) + lives.size()) % 2 == 0),
      .context_max = kToyContext,
      .cache_blocks = traits.cache_blocks,
      .step_rows_max = traits.step_rows_max,
      .sequences_max = traits.sequences_max,
      .wait_share = scenario_.wait_share,
      .grammars = toy_grammars(),
      .grammar_work_max_ns = traits.slow_grammars ? 0 : kGrammarWorkMaxNs,
      .head = traits.head ? "toy" : "",
      .features = traits.sends_features ? FeaturesRead{kToyHead, kToyFeatureNumbers} : FeaturesRead{}};
  lives.push_back(std::make_unique<VerifierLife>(
      Place{time_, links_, trace_}, fmt::format("{}.{}", name({Kind::verifier, index}), lives.size() + 1), config, std::nullopt,
      VerifyWork(distributions_[traits.other_numerics ? 1 : 0], traits.head.value_or(0), traits.cache_blocks, random_.word(),
                 traits.speed),
      WatchVerifier(traits.sequences_max, breach(), config.process.incarnation),
      traits.resident ? std::make_unique<NgramMethod>() : std::unique_ptr<Method>()));
}

void World::begin_drafter(int index) {
  const DrafterTraits& traits = scenario_.drafters[static_cast<size_t>(index)];
  auto& lives = drafters_[static_cast<size_t>(index)].lives;
  const auto life = lives.size() + 1;
  const std::string own = name({Kind::drafter, index});
  const DrafterConfig config{.process = {.incarnation = random_.word() >> 1, .routers = router_endpoints()},
                             .fingerprint = fingerprint(0),
                             .method = "toy",
                             .draft_model = traits.model,
                             .features = traits.reads_features ? FeaturesRead{kToyHead, kToyFeatureNumbers} : FeaturesRead{},
                             .draft_endpoint = "tcp://" + own + (traits.new_endpoint ? fmt::format(".{}", life) : ""),
                             .sequence_lease = seconds(4)};
  lives.push_back(std::make_unique<DrafterLife>(
      Place{time_, links_, trace_}, fmt::format("{}.{}", own, life), config, config.draft_endpoint,
      DraftWork({.weights = distributions_[0].weights, .noise = traits.noise}, traits, random_.word()),
      Misbehaviour(traits, random_.word(), breach())));
}

Process* World::process(const Machine& machine) const {
  const auto at = static_cast<size_t>(machine.index);
  switch (machine.kind) {
    case Kind::router:
      return routers_[at].now();
    case Kind::verifier:
      return verifiers_[at].now();
    case Kind::drafter:
      return drafters_[at].now();
  }
  return nullptr;
}

// --- What happens to them.

void World::plan() {
  for (size_t i = 0; i < machines_.size(); ++i) {
    time_.at(scenario_.begins[i], [this, machine = machines_[i]] {
      if (process(machine) == nullptr) begin(machine);
    });
  }
  links_.set(scenario_.climate);
  for (const auto& [when, climate] : scenario_.later_climates) {
    time_.at(when, [this, climate] { links_.set(climate); });
  }
  for (size_t i = 0; i < clients_.size(); ++i) {
    if (!scenario_.asks[i].after) time_.at(scenario_.asks[i].when, [this, i] { ask(i); });
  }
  if (scenario_.tunes) time_.in(kScrapeEvery, [this] { scrape(); });
  for (const Fault& fault : scenario_.faults) {
    time_.at(fault.when, [this, fault] { plan(fault); });
  }
  time_.at(scenario_.healed(), [this] { heal(); });
}

void World::ask(size_t client) {
  const Ask& ask = scenario_.asks[client];
  RouterLife* life = router(ask.router).now();
  if (life == nullptr || life->leaving()) {  // connection refused, or status 503: the client retries
    time_.in(kLookEvery, [this, client] { this->ask(client); });
    return;
  }
  ++tallies_.requests;
  asked_.emplace(life, client);
  trace_.line("client", "asks {} for request {}: {} tokens, {} more", life->name(), client + 1, ask.prompt.size(),
              ask.output_max > 0 ? fmt::format("at most {}", ask.output_max) : "as many as fit");
  life->post(clients_[client].submit(time_.now()));
  if (!ask.patience) return;
  time_.in(*ask.patience, [this, client, life] {
    if (clients_[client].state() != Client::State::asked) return;
    life->post(clients_[client].abandon());
    tell_end(client + 1);
  });
}

void World::ask_followers(RequestId request) {
  for (size_t i = 0; i < clients_.size(); ++i) {
    if (scenario_.asks[i].after != request - 1) continue;
    if (time_.now() < scenario_.asks[i].latest.value_or(Time::max())) {
      time_.in(milliseconds(1), [this, i] { ask(i); });
    } else {
      clients_[i].never_ask();
      ask_followers(i + 1);
    }
  }
}

void World::tell_end(RequestId request) {
  if (!trace_.on()) return;
  const Client& client = clients_[request - 1];
  trace_.line("client", "request {} {}, with {} tokens", request, client.end(), client.tokens());
}

// Ends a draining process when it is done, at the latest at `latest`, and later starts its
// successor.
void World::drain(const Fault& fault, Incarnation whom, Time latest) {
  Process* now = process(fault.whom);
  if (now == nullptr || now->incarnation() != whom) return;
  if (now->frozen() || (!now->done() && time_.now() < latest)) {
    time_.in(kDrainLook, [this, fault, whom, latest] { drain(fault, whom, latest); });
    return;
  }
  kill(fault.whom, true);
  time_.in(fault.lasts, [this, fault] {
    if (process(fault.whom) == nullptr) begin(fault.whom);
  });
}

void World::kill(const Machine& machine, bool by_itself) {
  Process* victim = process(machine);
  if (victim == nullptr) return;
  victim->kill(by_itself);
  ++(by_itself ? tallies_.drained : tallies_.kills);
  // The connections of clients are part of their router: they are cut off with it.
  for (auto at = asked_.lower_bound({victim, 0}); at != asked_.end() && at->first == victim; ++at) {
    const size_t client = at->second;
    if (clients_[client].state() != Client::State::asked) continue;
    clients_[client].cut_off();
    tell_end(client + 1);
  }
}

void World::plan(const Fault& fault) {
  Process* whom = process(fault.whom);
  if (whom == nullptr) return;
  const Incarnation self = whom->incarnation();
  const auto again = [this, fault, self] {  // the same process, if it still lives
    Process* now = process(fault.whom);
    return now != nullptr && now->incarnation() == self ? now : nullptr;
  };
  switch (fault.what) {
    case Fault::What::kill:
      kill(fault.whom);
      time_.in(fault.lasts, [this, fault] {
        if (process(fault.whom) == nullptr) begin(fault.whom);
      });
      return;
    case Fault::What::freeze:
      if (whom->frozen()) return;
      ++tallies_.freezes;
      whom->freeze();
      time_.in(fault.lasts, [again] {
        if (Process* now = again(); now != nullptr && now->frozen()) now->thaw();
      });
      return;
    case Fault::What::slow:
      ++tallies_.slowdowns;
      whom->slow_down(fault.factor);
      time_.in(fault.lasts, [again] {
        if (Process* now = again()) now->slow_down(1);
      });
      return;
    case Fault::What::drain:
      if (whom->leaving()) return;
      whom->begin_drain();
      time_.in(milliseconds(1), [this, fault, self, latest = time_.now() + kGrace] { drain(fault, self, latest); });
      return;
    case Fault::What::hang:
      ++tallies_.hangs;
      whom->hang();
      return;
    case Fault::What::separate: {
      Process* from = process(fault.from);
      if (from == nullptr) return;
      ++tallies_.separations;
      trace_.line(whom->name(), "SEPARATED from {}", from->name());
      links_.separate(self, from->incarnation());
      time_.in(fault.lasts, [this, self, other = from->incarnation(), who = whom->name(), whose = from->name()] {
        trace_.line(who, "JOINED again with {}", whose);
        links_.join(self, other);
      });
      return;
    }
  }
}

void World::heal() {
  trace_.line("world", "HEALS");
  links_.set({});
  for (const Machine& machine : machines_) {
    if (Process* now = process(machine)) {
      if (now->frozen()) now->thaw();
      now->slow_down(1);
    } else {
      begin(machine);
    }
  }
}

// --- The run.

Verdict World::live() {
  plan();
  std::optional<std::string> broken;
  const Time healed = scenario_.healed();
  while (!(broken = complaint()) && time_.now() < healed + kEndMost && !(all_ended() && time_.now() >= healed)) {
    if (!time_.run_until(time_.now() + kLookEvery)) broken_ = "time stands still: an alarm rings for ever";
  }
  if (!broken) broken = unended();
  // After the end, let leases expire and late messages arrive: only then must every process be
  // empty.
  if (!broken) {
    for (const Machine& machine : machines_) {
      if (Process* now = process(machine)) now->come_round();
    }
    if (!time_.run_until(time_.now() + kSettle)) broken_ = "time stands still: an alarm rings for ever";
    settled_ = 0;  // check all again: no client may have received anything after its end
    broken = complaint();
  }
  if (!broken) broken = leftovers();
  if (!broken) broken = wrongly_verified();
  if (!broken) broken = wrong_verdicts();
  if (!broken) broken = wrong_features();
  Verdict verdict{.broken = std::move(broken), .tallies = tallies(), .happenings = time_.happened(), .end = time_.now()};
  for (const Client& client : clients_) verdict.longest_pause = std::max(verdict.longest_pause, client.longest_pause());
  return verdict;
}

}  // namespace slipstream::sim
