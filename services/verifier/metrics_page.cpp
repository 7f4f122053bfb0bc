#include "services/verifier/metrics_page.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace slipstream {
namespace {

using namespace metric;

constexpr std::pair<Fate, const char*> kFinalFates[] = {
    {Fate::accepted, "accepted"}, {Fate::rejected, "rejected"}, {Fate::unreached, "unreached"}, {Fate::trimmed, "trimmed"},
    {Fate::late, "late"},         {Fate::stale, "stale"},       {Fate::invalid, "invalid"},     {Fate::merged, "merged"}};
static_assert(std::size(kFinalFates) == kFates - 1, "every fate but held has a row");

double d(uint64_t count) { return static_cast<double>(count); }

constexpr const char* kRoundAskNames[] = {"yes", "fails", "stays_empty", "nothing_pays", "tried_elsewhere", "early"};
static_assert(std::size(kRoundAskNames) == kRoundAsks, "[RoundAsk]");

// The three counters of some bins of a kind's nodes, and the label that tells the bins apart.
struct BinSeries {
  const MetricName &nodes, &expected, &accepted;
  std::string_view label;
};
constexpr BinSeries kByChance{kVerifierKindNodes, kVerifierKindExpected, kVerifierKindAccepted, "chance"};
constexpr BinSeries kBySurvival{kVerifierSurvivalNodes, kVerifierSurvivalStated, kVerifierSurvivalAccepted, "survival"};
constexpr BinSeries kByDepth{kVerifierDepthNodes, kVerifierDepthExpected, kVerifierDepthAccepted, "depth"};

// [kinds] whether its bins are on the page: all of a few kinds, else those with most verified
// nodes. Of the others nobody would read so much, and the page stays small.
std::vector<bool> binned(const std::vector<DraftKindCounters>& kinds) {
  std::vector<std::pair<uint64_t, size_t>> verified;
  for (const DraftKindCounters& kind : kinds) {
    uint64_t nodes = 0;
    for (const Reliability::Bin& bin : kind.reliability.bins()) nodes += bin.nodes;
    verified.emplace_back(nodes, verified.size());
  }
  const size_t most = kinds.size() <= kFewKinds ? kinds.size() : kBinnedOfMany;
  std::ranges::partial_sort(verified, verified.begin() + static_cast<ptrdiff_t>(most), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  std::vector<bool> binned(kinds.size(), false);
  for (size_t at = 0; at < most; ++at) binned[verified[at].second] = true;
  return binned;
}

void add_kind(const DraftKindCounters& counters, const NodeFates& fates, KindIndex index, Exposition& page) {
  const auto& [method, model] = counters.kind;
  page.counter(kVerifierNodesReceived, d(fates.received(index)), {{"method", method}, {"model", model}});
  for (const auto& [fate, name] : kFinalFates) {
    page.counter(kVerifierNodes, d(fates.of(index, fate)), {{"fate", name}, {"method", method}, {"model", model}});
  }
  page.gauge(kVerifierNodesHeld, d(fates.of(index, Fate::held)), {{"method", method}, {"model", model}});
  page.counter(kVerifierMissedDeadlines, d(counters.missed_deadlines), {{"method", method}, {"model", model}});
  page.counter(kVerifierMetDeadlines, d(counters.met_deadlines), {{"method", method}, {"model", model}});
  page.counter(kVerifierDraftWaitSeconds, counters.waited_seconds, {{"method", method}, {"model", model}});
  page.gauge(kVerifierDrafters, d(counters.drafters), {{"method", method}, {"model", model}});
  page.gauge(kVerifierDraftAnswerSeconds, counters.answer_seconds, {{"method", method}, {"model", model}});
  page.gauge(kVerifierDraftJobSeconds, counters.drafting_seconds, {{"method", method}, {"model", model}});
  for (const auto& [rule, gain] : {std::pair("greedy", counters.greedy_gain), std::pair("coupled", counters.coupled_gain)}) {
    if (gain) page.gauge(kVerifierDraftGain, *gain, {{"method", method}, {"model", model}, {"rule", rule}});
  }
  page.counter(kVerifierDraftRounds, d(counters.rounds_verified), {{"method", method}, {"model", model}});
  page.counter(kVerifierParkedTrees, d(counters.parked), {{"method", method}, {"model", model}});
  page.counter(kVerifierParkedTreesUsed, d(counters.parked_used), {{"method", method}, {"model", model}});
  for (size_t ask = 0; ask < kRoundAsks; ++ask) {
    page.counter(kVerifierDraftAsks, d(counters.rounds[ask]),
                 {{"method", method}, {"model", model}, {"asked", kRoundAskNames[ask]}});
  }
}

// A bin of chances or survivals is named by its upper end: chance="0.1" is 0 to 0.1.
void add_bins(const DraftKindCounters& counters, Exposition& page) {
  const auto& [method, model] = counters.kind;
  const auto add_bin = [&](const BinSeries& of, const std::string& value, const Reliability::Bin& bin) {
    page.counter(of.nodes, d(bin.nodes), {{"method", method}, {"model", model}, {of.label, value}});
    page.counter(of.expected, bin.expected, {{"method", method}, {"model", model}, {of.label, value}});
    page.counter(of.accepted, d(bin.accepted), {{"method", method}, {"model", model}, {of.label, value}});
  };
  for (size_t bin = 0; bin < kReliabilityBins; ++bin) {
    const std::string upper_end = fmt::format("{:.1f}", static_cast<double>(bin + 1) / kReliabilityBins);
    add_bin(kByChance, upper_end, counters.reliability.bins()[bin]);
    add_bin(kBySurvival, upper_end, counters.by_survival.bins()[bin]);
  }
  for (size_t range = 0; range < kCalibrationDepths.size(); ++range) {
    add_bin(kByDepth, calibration_range_name(range), counters.by_depth[range]);
  }
}

void add_nodes(const VerifierCounters& c, Exposition& page) {
  page.histogram(kVerifierAcceptedNodes, c.accepted_length);
  const std::vector<bool> has_bins = binned(c.draft_kinds);
  for (size_t kind = 0; kind < c.draft_kinds.size(); ++kind) {
    add_kind(c.draft_kinds[kind], c.fates, static_cast<KindIndex>(kind), page);
    if (has_bins[kind]) add_bins(c.draft_kinds[kind], page);
  }
  page.gauge(kVerifierNodePrice, c.node_price);
  page.counter(kVerifierRounds, d(c.draft_rounds), {{"kind", "draft"}});
  page.counter(kVerifierRounds, d(c.plain_rounds), {{"kind", "plain"}});
  page.counter(kVerifierSampledGivenUp, d(c.sampled_given_up));
}

void add_steps(const VerifierCounters& c, Exposition& page) {
  page.histogram(kVerifierStepSeconds, c.step_seconds);
  page.histogram(kVerifierOverheadSeconds, c.overhead_seconds);
  page.counter(kVerifierUnwaitedSteps, d(c.unwaited_steps));
  page.counter(kVerifierStepRows, d(c.step_rows));
  page.counter(kVerifierHeadPasses, d(c.head_passes));
  for (size_t i = 0; i < kCostRows.size() && kCostRows[i] <= c.step_rows_max; ++i) {
    page.gauge(kVerifierStepCostSeconds, c.step_cost[i], {{"rows", std::to_string(kCostRows[i])}});
  }
  page.gauge(kVerifierStepOverheadSeconds, c.step_overhead);
  page.gauge(kVerifierPairCostSeconds, c.attention_cost.pair);
  page.gauge(kVerifierReadCostSeconds, c.attention_cost.read);
  page.histogram(kVerifierCostError, c.cost_error);
  page.histogram(kVerifierAffordableNodes, c.affordable_nodes);
  page.counter(kVerifierStepFaults, d(c.failed_steps), {{"kind", "failed"}});
  page.counter(kVerifierStepFaults, d(c.non_finite_rows), {{"kind", "not_finite"}});
  page.counter(kVerifierStepFaults, d(c.masked_rows), {{"kind", "no_token"}});
  page.counter(kVerifierStepFaults, d(c.grammar_failures), {{"kind", "grammar"}});
}

void add_sequences(const VerifierCounters& c, Exposition& page) {
  page.counter(kVerifierSequencesStarted, d(c.sequences_started));
  page.counter(kVerifierSequencesRefused, d(c.sequences_refused));
  page.counter(kVerifierSequencesEnded, d(c.sequences_delivered), {{"why", "delivered"}});
  page.counter(kVerifierSequencesEnded, d(c.sequences_cancelled), {{"why", "cancelled"}});
  page.counter(kVerifierSequencesEnded, d(c.leases_expired), {{"why", "lease"}});
  page.counter(kVerifierSequencesEnded, d(c.sequences_replaced), {{"why", "replaced"}});
  page.gauge(kVerifierSequencesLive, d(c.live));
  page.gauge(kVerifierSequencesWaiting, d(c.waiting));
  page.counter(kVerifierPreempted, d(c.preempted));
  page.gauge(kVerifierBlocksFree, d(c.blocks_free));
  page.gauge(kVerifierBlocksKept, d(c.blocks_kept));
  page.counter(kVerifierPrefixTokens, d(c.prefix_tokens));
  page.counter(kVerifierPrefixesEvicted, d(c.prefixes_evicted));
  page.gauge(kVerifierLookUpTokens, d(c.resident.remembered_tokens));
  page.counter(kVerifierLookUpForgotten, d(c.resident.forgotten_tenants));
  page.counter(kVerifierPromptTokens, d(c.prompt_tokens));
  page.counter(kVerifierOutputTokens, d(c.output_tokens));
  page.counter(kVerifierNearTies, d(c.near_ties));
}

void add_peers(const VerifierCounters& c, Exposition& page) {
  page.counter(kVerifierResyncs, d(c.resyncs));
  page.counter(kVerifierFeaturesSent, d(c.features_sent));
  page.counter(kVerifierAttachesRepeated, d(c.attaches_repeated));
  page.gauge(kVerifierAttachesWaiting, d(c.attaches_waiting));
  page.counter(kVerifierPeerFaults, d(c.malformed), {{"kind", "malformed"}});
  page.counter(kVerifierPeerFaults, d(c.unknown_tags), {{"kind", "unknown"}});
  page.counter(kVerifierPeerFaults, d(c.fenced), {{"kind", "fenced"}});
  page.counter(kVerifierPeerFaults, d(c.quarantined), {{"kind", "quarantined"}});
  page.counter(kVerifierPeerFaults, d(c.links_refused), {{"kind", "too_many_drafters"}});
  page.counter(kVerifierPeerFaults, d(c.worker.duplicate_routers), {{"kind", "duplicate_router"}});
}

}  // namespace

void add_verifier_metrics(const VerifierCounters& counters, Exposition& page) {
  add_nodes(counters, page);
  add_steps(counters, page);
  add_sequences(counters, page);
  add_peers(counters, page);
}

void add_load_metrics(const LoadReport& load, Exposition& page) {
  page.gauge(kVerifierLoadSeconds, load.read_seconds, {{"part", "read"}});
  page.gauge(kVerifierLoadSeconds, load.pack_seconds, {{"part", "pack"}});
  page.gauge(kVerifierLoadSeconds, load.trial_seconds, {{"part", "trial"}});
}

}  // namespace slipstream
