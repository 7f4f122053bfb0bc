// The oracles of a world, and the counts of what happened in it (docs/design/SIMULATOR.md).
#include <algorithm>

#include <fmt/format.h>

#include "tests/sim/world.h"

namespace slipstream::sim {
namespace {

constexpr Time kStallMost = std::chrono::seconds(4);  // longest pause of an answer, if no process is at fault

}  // namespace

bool World::all_ended() const {
  return std::ranges::all_of(clients_.begin() + static_cast<ptrdiff_t>(settled_), clients_.end(), &Client::ended);
}

std::optional<std::string> World::complaint() {
  if (broken_) return broken_;
  const size_t settled = settled_;
  for (size_t i = settled; i < clients_.size(); ++i) {
    if (i == settled_ && clients_[i].ended()) ++settled_;
    if (clients_[i].complaint()) return fmt::format("wrong words for request {}: {}", i + 1, *clients_[i].complaint());
    if (const Time pause = clients_[i].pause(time_.now()); scenario_.calm() && pause > kStallMost) {
      return fmt::format("request {} stalls for {} ms", i + 1, pause.count() / 1000);
    }
    if (clients_[i].state() != Client::State::failed) continue;
    const Failure& failure = clients_[i].failure();
    // Two fair failures: no verifier for longer than the router waits, and only if faults may take
    // verifiers away; and too long a wait for room, if it has a limit, before the answer begins.
    const bool away = scenario_.verifier_wait_ms < 8000 && !scenario_.rolling;
    const bool busy = scenario_.queue_wait_ms > 0 && clients_[i].tokens() == 0 && failure.retry_after_s > 0;
    const bool fair =
        (failure.code == "no_verifier" && away) || ((failure.code == "overloaded" || failure.code == "queue_timeout") && busy);
    if (!fair) return fmt::format("request {} failed: {} {}", i + 1, failure.code, failure.message);
  }
  return std::nullopt;
}

std::optional<std::string> World::unended() const {
  if (const Tallies sum = tallies(); scenario_.rolling && sum.cut_off + sum.failed > 0) {
    return fmt::format("{} requests cut off and {} failed, although every process was let finish", sum.cut_off, sum.failed);
  }
  for (size_t i = 0; i < clients_.size(); ++i) {
    if (!clients_[i].ended()) return fmt::format("request {} does not end: {} tokens", i + 1, clients_[i].tokens());
  }
  return std::nullopt;
}

std::optional<std::string> World::leftovers() const {
  for (const auto& home : routers_) {
    const RouterCounters& c = home.now()->actor().counters();
    if (c.live + c.waiting > 0) return fmt::format("{} keeps {} requests", home.now()->name(), c.live + c.waiting);
  }
  for (size_t i = 0; i < verifiers_.size(); ++i) {
    const VerifierCounters& c = verifiers_[i].now()->actor().counters();
    // All blocks must be free or kept in the prefix cache; any other is leaked.
    const auto blocks = static_cast<uint64_t>(scenario_.verifiers[i].cache_blocks);
    if (c.live + c.fates.of(Fate::held) > 0 || c.blocks_free + c.blocks_kept != blocks) {
      return fmt::format("{} keeps {} sequences, {} nodes, {} of {} blocks", verifiers_[i].now()->name(), c.live,
                         c.fates.of(Fate::held), blocks - c.blocks_free - c.blocks_kept, blocks);
    }
    if (c.attaches_waiting > 0) {
      return fmt::format("{} waits for {} drafters to answer its Attach", verifiers_[i].now()->name(), c.attaches_waiting);
    }
  }
  for (const auto& home : drafters_) {
    const DrafterCounters& c = home.now()->actor().counters();
    if (c.live + c.tokens_held > 0) {
      return fmt::format("{} keeps {} sequences, {} tokens", home.now()->name(), c.live, c.tokens_held);
    }
  }
  return std::nullopt;
}

// If every drafter and every draft head is the target itself, and the only wrong trees are those
// whose fence is wrong too, no node may be rejected: a rejected one was in a tree that the verifier
// had to drop, or the drafter's state is not the verifier's.
std::optional<std::string> World::wrongly_verified() const {
  const Tallies sum = tallies();
  const bool perfect =
      std::ranges::all_of(
          scenario_.drafters,
          [](const DrafterTraits& d) { return d.noise + d.siblings == 0 && (d.mischief == 0 || d.misplaced); }) &&
      std::ranges::none_of(scenario_.verifiers,
                           [](const VerifierTraits& v) { return v.other_numerics || v.resident || v.head.value_or(0) > 0; }) &&
      std::ranges::all_of(scenario_.asks, [](const Ask& ask) { return ask.grammar.empty(); });  // drafters know of none
  if (perfect && sum.rejected_nodes > 0) {
    return fmt::format("{} nodes rejected, although every drafter is the target itself", sum.rejected_nodes);
  }
  return std::nullopt;
}

// Verdicts must be what the target chooses after the rows of the drafter's own tree. A drafter that
// runs ahead sends trees that its method does not know, and another numerics is another target.
std::optional<std::string> World::wrong_verdicts() const {
  if (std::ranges::any_of(scenario_.verifiers, &VerifierTraits::other_numerics)) return std::nullopt;
  for (size_t i = 0; i < drafters_.size(); ++i) {
    if (scenario_.drafters[i].runs_ahead) continue;
    for (const auto& life : drafters_[i].lives) {
      const uint64_t wrong = life->work().method().wrong_verdicts();
      if (wrong > 0) return fmt::format("{} wrong verdicts to {}", wrong, life->name());
    }
  }
  return std::nullopt;
}

// Features must be those of the tokens before: whatever was preempted, found in the prefix cache,
// moved, lost or sent again.
std::optional<std::string> World::wrong_features() const {
  for (const auto& home : drafters_) {
    for (const auto& life : home.lives) {
      const uint64_t wrong = life->work().method().wrong_features();
      if (wrong > 0) return fmt::format("{} wrong features to {}", wrong, life->name());
      if (const uint64_t invalid = life->actor().counters().invalid; invalid > 0) {
        return fmt::format("{} impossible Advances to {}", invalid, life->name());
      }
    }
  }
  return std::nullopt;
}

Tallies World::tallies() const {
  Tallies sum = tallies_;
  for (const Client& client : clients_) {
    sum.tokens += client.tokens();
    sum.told_trees += client.trees();
    sum.answered += client.state() == Client::State::answered;
    sum.failed += client.state() == Client::State::failed;
    sum.abandoned += client.state() == Client::State::abandoned;
    sum.cut_off += client.state() == Client::State::cut_off;
  }
  for (const auto& home : routers_) {
    for (const auto& life : home.lives) {
      const RouterCounters& c = life->actor().counters();
      sum.failovers += c.replays;
      sum.moved += c.moved;
      sum.by_affinity += c.placed_by_affinity;
      sum.stuck += c.workers_stuck;
      sum.stale_messages += c.stale;
    }
  }
  for (const auto& home : verifiers_) {
    for (const auto& life : home.lives) {
      const VerifierCounters& c = life->actor().counters();
      sum.resyncs += c.resyncs;
      sum.attaches_repeated += c.attaches_repeated;
      sum.parked += c.parked();
      sum.late_nodes += c.fates.of(Fate::late);
      sum.stale_nodes += c.fates.of(Fate::stale);
      sum.fenced += c.fenced;
      sum.leases_expired += c.leases_expired;
      sum.preempted += c.preempted;
      sum.prefix_tokens += c.prefix_tokens;
      sum.quarantined += c.quarantined;
      sum.accepted_nodes += c.fates.of(Fate::accepted);
      sum.rejected_nodes += c.fates.of(Fate::rejected);
      sum.sampled_trees += life->work().sampled_trees();
      sum.head_trees += life->work().head_trees();
    }
  }
  for (const auto& home : drafters_) {
    for (const auto& life : home.lives) {
      sum.verdicts += life->work().method().verdicts();
      sum.features += life->work().method().features();
    }
  }
  sum.doubled = links_.tallies().doubled;
  sum.lost = links_.tallies().lost;
  sum.lost_finishes = links_.tallies().lost_finishes;
  return sum;
}

}  // namespace slipstream::sim
