// Every unbiased rule through the real processes: the first tokens of an answer have the model's
// own distribution. The drafter is the model with noise on its weights, and 32 streams run at
// once. Seeds are fixed, but which of them share a step is not, so alpha says how often a sound
// run fails.
//
// One half judges three tokens of the whole vocabulary, the other eight tokens of three allowed
// ones. A new sequence's trees have three nodes, which with siblings are one level deep, and
// they grow as nodes are accepted (common/speculation/draft_backoff.h). With siblings the first
// tree that is two levels deep guesses tokens 4 and 5, and the next one tokens 7 and 8.
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "common/metrics/names.h"
#include "tests/data/noisy_model.h"
#include "tests/e2e/support/draws.h"
#include "tests/e2e/support/fate_metrics.h"
#include "tests/e2e/support/prompt_ids.h"

namespace slipstream::e2e {
namespace {

struct Rule {
  const char* speculation;
  bool chain = false;
};
constexpr Rule kRules[] = {{R"({"rule":"coupled"})"},
                           {R"({"rule":"ratio"})", true},
                           {R"({"rule":"ratio","siblings":2})"},
                           {R"({"rule":"batch","siblings":3})"},
                           {R"({"rule":"block"})", true},
                           {R"({"rule":"traversal","siblings":2})"}};

// The part of an answer that is judged.
struct JudgedPart {
  size_t length = 0;                  // tokens
  Cells cells;                        // of them
  int asked = 0;                      // tokens asked for: more, since the last one of an answer is not drafted
  float noise = 0;                    // on the drafter's weights
  std::vector<TokenId> allowed = {};  // none: all
  bool grown = false;                 // trees with siblings go two deep, too
  double two_deep_least = 0;          // of the answers
};
const JudgedPart kFirstTokens{
    .length = 3, .cells = {.ranks = 3, .tokens = 3}, .asked = 6, .noise = 0.06F, .two_deep_least = 0.02};
// None of these tokens is nearly certain after any others, and about seven in ten drafts are right.
const JudgedPart kLaterTokens{.length = 8,
                              .cells = {.ranks = 5, .tokens = 5},
                              .asked = 10,
                              .noise = 0.15F,
                              .allowed = {39, 49, 50},
                              .grown = true,
                              .two_deep_least = 0.2};

// Penalties depend on the output, and for a node of a tree on its own path.
const LogitsParams kPenalties{.repetition_penalty = 1.5F, .frequency_penalty = 1.25F};

const DistributionSetting kWarm{.temperature = 0.7}, kHot{.temperature = 1.2}, kHotCut{.temperature = 1.2, .top_p = 0.9};
const DistributionSetting kProcessed{.temperature = 0.7, .how = kPenalties};

constexpr uint32_t kPatient = 1'000'000;  // microseconds that a tree is waited for

// The draft head is one of random weights, which is asked all the same if a step costs much.
void start_with_head(Cluster& cluster) {
  cluster.start_router({});
  cluster.start_verifier({"--head", SLIPSTREAM_SOURCE_FOLDER "/tests/data/tiny-head", "--step-cost-us", "20000"});
  cluster.wait_ports("verifier");
  cluster.wait_ready();
}

// The drafter's model is the target's with noise on its weights.
void start(Cluster& cluster, float noise, uint32_t wait_us) {
  const auto draft_model = noisy_model(tiny_model(), cluster.folder() / "noisy", noise);
  cluster.start_router({"--deadline-us", std::to_string(wait_us), "--trust", "local"});
  cluster.start_verifier(verify_every_draft({"--sampled-wait-us", std::to_string(wait_us)}));
  cluster.start_drafter({"--method", "small-lm", "--draft-model", draft_model.string()});
  cluster.wait_ports("verifier");
  cluster.wait_ready();
  cluster.wait_drafter();
}

nlohmann::json request_of(const DistributionSetting& setting, const JudgedPart& judged, const Rule& rule) {
  nlohmann::json request{{"max_tokens", judged.asked},
                         {"temperature", setting.temperature},
                         {"top_p", setting.top_p},
                         {"repetition_penalty", setting.how.repetition_penalty},
                         {"frequency_penalty", setting.how.frequency_penalty},
                         {"speculation", nlohmann::json::parse(rule.speculation)}};
  if (!judged.allowed.empty()) request["allowed_token_ids"] = judged.allowed;
  return request;
}

// The total variation of the planted errors that a verdict must find.
struct Planted {
  double in_ranks = 0;   // errors with one direction after every prefix
  double in_tokens = 0;  // errors with any direction
};

// A run shows that it finds some hundred planted errors. Power 0.99 is stated for each alone, so
// some would be missed. Of errors that are kShown times as large a run misses one with a chance
// below kMissed.
constexpr double kShown = 1.5;
constexpr double kMissed = 1e-4;

struct Error {
  ExactDistribution distribution;
  double variation = 0;
  bool in_tokens = false;
  bool found(const std::vector<Draw>& draws, const ExactDistribution& model, const Cells& cells) const {
    return in_tokens ? judge_tokens(draws, distribution, cells.tokens).p_value <= kAlpha
                     : !judge(draws, distribution, model, cells).exact();
  }
};

// One error for each position that drafts may change and a test looks at. Prints the power of the
// tests, and adds to `missed` the chance that they miss an error.
std::vector<Error> planted_errors(const ExactDistribution& distribution, const JudgedPart& judged, const Planted& planted,
                                  size_t draws, double& missed) {
  std::vector<Error> errors;
  for (size_t position = 1; position < judged.length; ++position) {
    ExactDistribution told = distribution, shown = distribution;
    told.bias(position, planted.in_ranks);
    shown.bias(position, kShown * planted.in_ranks);
    const double power = power_in_ranks(position, distribution, told, distribution, draws);
    fmt::print("alpha {} a test; power against TV {} at position {}: {:.4f}\n", kAlpha, planted.in_ranks, position + 1, power);
    EXPECT_GE(power, 0.99);
    missed += 1 - power_in_ranks(position, shown, distribution, distribution, draws);
    errors.push_back({std::move(shown), kShown * planted.in_ranks});
  }
  for (size_t position = 1; position < judged.cells.tokens; ++position) {
    ExactDistribution told = distribution, shown = distribution;
    told.scatter(position, planted.in_tokens);
    shown.scatter(position, kShown * planted.in_tokens);
    const double power = power_in_tokens(judged.cells.tokens, distribution, told, draws);
    fmt::print("  against TV {} that turns with the prefix: {:.4f}, by ranks {:.4f}\n", planted.in_tokens, power,
               power_in_ranks(position, distribution, told, distribution, draws));
    EXPECT_GE(power, 0.99);
    missed += 1 - power_in_tokens(judged.cells.tokens, shown, distribution, draws);
    errors.push_back({std::move(shown), kShown * planted.in_tokens, true});
  }
  return errors;
}

// A wait at which, on this machine now, some trees come in time and many do not.
uint32_t wait_for_some(const JudgedPart& judged) {
  constexpr size_t kAnswers = 320;
  for (uint32_t wait_us = 250; wait_us < kPatient; wait_us *= 2) {
    Cluster cluster(tiny_model());
    start(cluster, judged.noise, wait_us);
    ask_seeds(cluster, kAnswers, request_of(kWarm, judged, {R"({"rule":"ratio"})"}), [](size_t, const std::string&) {});
    const FateMetrics fates(cluster.settled_verifier());
    if (fates.accepted + fates.rejected > fates.late / 4) return wait_us;
  }
  throw std::runtime_error("trees come too late however long they are waited for");
}

// Stops a process and lets it go on, again and again. The moments depend on the clock alone.
class Stutter {
 public:
  explicit Stutter(Process& process) : process_(process), thread_([this](const std::stop_token& stop) { run(stop); }) {}

 private:
  static constexpr std::chrono::milliseconds kGoes{100}, kStands{150};

  void run(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    const auto rest = [&](auto time) { ended_.wait_for(lock, stop, time, [] { return false; }); };
    while (!stop.stop_requested()) {
      rest(kGoes);
      process_.signal(SIGSTOP);
      rest(kStands);
      process_.signal(SIGCONT);
    }
  }

  Process& process_;
  std::mutex mutex_;
  std::condition_variable_any ended_;
  std::jthread thread_;
};

enum class Trees : uint8_t { in_time, late_as_they_are, late_as_the_drafter_stutters, of_the_head };
constexpr uint32_t kStutterWait = 50'000;  // microseconds, less than the process stands still

void expect_distribution(const JudgedPart& judged, size_t count, const Planted& planted,
                         const std::vector<DistributionSetting>& settings, Trees trees = Trees::in_time) {
  const bool late_ones = trees == Trees::late_as_they_are || trees == Trees::late_as_the_drafter_stutters;
  const uint32_t wait_us = !late_ones ? kPatient : trees == Trees::late_as_they_are ? wait_for_some(judged) : kStutterWait;
  Cluster cluster(tiny_model());
  trees == Trees::of_the_head ? start_with_head(cluster) : start(cluster, judged.noise, wait_us);
  std::optional<Stutter> stutter;
  if (trees == Trees::late_as_the_drafter_stutters) stutter.emplace(cluster.process("drafter"));
  FateMetrics before(cluster.metrics("verifier"));
  const auto late_rounds = [&] { return cluster.metrics("verifier").sum(metric::kVerifierMissedDeadlines.name); };
  double missed = 0, late_before = late_rounds();
  for (DistributionSetting setting : settings) {
    setting.how.allowed = judged.allowed;
    const auto distribution =
        ExactDistribution::of(tiny_model(), prompt_ids(tiny_model(), kSampledWords), judged.length, setting);
    ASSERT_TRUE(distribution) << distribution.error().message;
    double missed_by_each = 0;
    const std::vector<Error> errors = planted_errors(*distribution, judged, planted, count, missed_by_each);
    missed += missed_by_each * static_cast<double>(std::size(kRules));
    for (const Rule& rule : kRules) {
      std::vector<Draw> draws(count);
      size_t two_deep = 0;
      ask_seeds(cluster, count, request_of(setting, judged, rule), [&](size_t seed, const std::string& reply) {
        draws[seed] = draw_in(reply, judged.length);
        two_deep += went_two_deep(reply, judged.length);
      });
      const FateMetrics after(cluster.settled_verifier());
      const double late_after = late_rounds(), late = late_after - std::exchange(late_before, late_after);
      const Verdict verdict = judge(draws, *distribution, *distribution, judged.cells);
      const double share = static_cast<double>(two_deep) / static_cast<double>(count);
      fmt::print(
          "{:<34} temperature {}, top-p {}: p-values {:.2g}; joint {:.2g}; tokens {:.2g}; {} of {} nodes accepted, "
          "{} rounds late; two deep in {:.0f} % of answers\n",
          rule.speculation, setting.temperature, setting.top_p, fmt::join(verdict.p_values(), ", "), verdict.joint.p_value,
          verdict.tokens.p_value, after.accepted - before.accepted, after.received - before.received, late, 100 * share);
      if (late_ones) {
        EXPECT_GT(late, 0) << "all trees came in time";
      } else if (rule.chain || judged.grown) {
        EXPECT_GT(share, judged.two_deep_least) << "of what a tree holds below its first level little is proved";
      }
      EXPECT_TRUE(verdict.exact()) << rule.speculation;
      for (const Error& error : errors) {
        EXPECT_TRUE(error.found(draws, *distribution, judged.cells)) << "an error of " << error.variation << " would pass";
      }
      EXPECT_GT(after.accepted, before.accepted);
      EXPECT_GT(after.rejected, before.rejected);
      before = after;
    }
  }
  fmt::print("the chance that a planted error is not found: {:.2g}\n", missed);
  EXPECT_LT(missed, kMissed);
}

TEST(RulesDistribution, OfThreeTokensIsTheModels) { expect_distribution(kFirstTokens, 3'000, {0.1, 0.1}, {kWarm}); }

// Sampled trees are dropped only because they are late.
TEST(RulesDistribution, OfThreeTokensWhoseTreesComeTooLateIsTheModels) {
  expect_distribution(kFirstTokens, 3'000, {0.1, 0.1}, {kWarm}, Trees::late_as_the_drafter_stutters);
}

TEST(RulesDistribution, OfThreeTokensThatTheDraftHeadSamplesIsTheModels) {
  expect_distribution(kFirstTokens, 3'000, {0.1, 0.1}, {kHot}, Trees::of_the_head);
}

TEST(RulesDistribution, OfEightTokensWhoseTreesHaveGrownIsTheModels) {
  expect_distribution(kLaterTokens, 2'000, {0.08, 0.1}, {kWarm, kProcessed});
}

TEST(RulesDistributionLong, OfThreeTokensIsTheModels) {
  expect_distribution(kFirstTokens, 140'000, {0.01, 0.02}, {kWarm, kHot, kHotCut, kProcessed});
}

TEST(RulesDistributionLong, OfThreeTokensWhoseTreesComeTooLateIsTheModels) {
  expect_distribution(kFirstTokens, 140'000, {0.01, 0.02}, {kWarm}, Trees::late_as_they_are);
}

TEST(RulesDistributionLong, OfThreeTokensThatTheDraftHeadSamplesIsTheModels) {
  expect_distribution(kFirstTokens, 140'000, {0.01, 0.02}, {kWarm, kHot, kHotCut, kProcessed}, Trees::of_the_head);
}

TEST(RulesDistributionLong, OfEightTokensWhoseTreesHaveGrownIsTheModels) {
  expect_distribution(kLaterTokens, 130'000, {0.01, 0.02}, {kWarm, kHot});
}

TEST(RulesDistributionLong, OfEightTokensWhoseTreesHaveGrownIsTheModelsUnderAFilterAndPenalties) {
  expect_distribution(kLaterTokens, 130'000, {0.01, 0.02}, {kHotCut, kProcessed});
}

}  // namespace
}  // namespace slipstream::e2e
