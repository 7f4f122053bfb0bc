#include "services/drafter/metrics_page.h"

#include <string>
#include <string_view>
#include <utility>

namespace slipstream {
namespace {

using namespace metric;

double d(uint64_t count) { return static_cast<double>(count); }

void add_drafts(const DrafterCounters& c, Exposition& page) {
  const std::pair<std::string_view, std::string_view> method{"method", c.method}, model{"model", c.model};
  page.counter(kDrafterAsks, d(c.asks), {method, model});
  page.counter(kDrafterAnswers, d(c.trees), {{"answer", "tree"}, method, model});
  page.counter(kDrafterAnswers, d(c.empty_trees), {{"answer", "empty"}, method, model});
  page.counter(kDrafterAnswers, d(c.asks_overtaken), {{"answer", "overtaken"}, method, model});
  page.counter(kDrafterNodes, d(c.nodes_sent), {{"fate", "sent"}, method, model});
  page.counter(kDrafterNodes, d(c.nodes_discarded), {{"fate", "discarded"}, method, model});
  page.histogram(kDrafterDraftSeconds, c.draft_seconds, {method, model});
  page.counter(kDrafterFailedJobs, d(c.failed_jobs), {method, model});
  page.counter(kDrafterPasses, d(c.work.passes), {method, model});
  page.counter(kDrafterPassRows, d(c.work.rows), {method, model});
  page.counter(kDrafterPrefixTokens, d(c.work.prefix_tokens), {method, model});
  page.counter(kDrafterEvictions, d(c.work.evictions), {method, model});
  page.gauge(kDrafterLookUpTokens, d(c.work.remembered_tokens), {method, model});
  page.counter(kDrafterLookUpForgotten, d(c.work.forgotten_tenants), {method, model});
}

void add_levels(const DrafterCounters& c, Exposition& page) {
  for (size_t range = 0; range < c.by_levels.size(); ++range) {
    const std::string depth = calibration_range_name(range);
    page.counter(kDrafterLevelJobs, d(c.by_levels[range].jobs), {{"method", c.method}, {"model", c.model}, {"depth", depth}});
    page.counter(kDrafterLevels, d(c.by_levels[range].levels), {{"method", c.method}, {"model", c.model}, {"depth", depth}});
    page.counter(kDrafterLevelSeconds, c.by_levels[range].seconds,
                 {{"method", c.method}, {"model", c.model}, {"depth", depth}});
  }
}

void add_learnt(const DrafterCounters& c, Exposition& page) {
  for (size_t range = 0; range < c.work.learnt.size(); ++range) {
    const auto& [candidates, right, expected] = c.work.learnt[range];
    const std::string depth = calibration_range_name(range);
    page.counter(kDrafterVerdictCandidates, d(candidates), {{"method", c.method}, {"model", c.model}, {"depth", depth}});
    page.counter(kDrafterVerdictExpected, expected, {{"method", c.method}, {"model", c.model}, {"depth", depth}});
    page.counter(kDrafterVerdictRight, d(right), {{"method", c.method}, {"model", c.model}, {"depth", depth}});
  }
}

void add_sequences(const DrafterCounters& c, Exposition& page) {
  page.counter(kDrafterAdvances, d(c.applied), {{"outcome", "applied"}});
  page.counter(kDrafterAdvances, d(c.stale), {{"outcome", "stale"}});
  page.counter(kDrafterAdvances, d(c.resyncs), {{"outcome", "resync"}});
  page.counter(kDrafterAdvances, d(c.busy), {{"outcome", "busy"}});
  page.counter(kDrafterAdvances, d(c.leaving), {{"outcome", "leaving"}});
  page.counter(kDrafterAdvances, d(c.invalid), {{"outcome", "invalid"}});
  page.counter(kDrafterSequencesBegun, d(c.sequences_begun));
  page.counter(kDrafterSequencesEnded, d(c.sequences_released), {{"why", "released"}});
  page.counter(kDrafterSequencesEnded, d(c.sequences_freed), {{"why", "freed"}});
  page.gauge(kDrafterSequencesLive, d(c.live));
  page.gauge(kDrafterTokensHeld, d(c.tokens_held));
}

void add_peers(const DrafterCounters& c, Exposition& page) {
  page.gauge(kDrafterVerifiers, d(c.verifiers));
  page.gauge(kDrafterWelcome, c.worker.welcome ? 1 : 0);
  page.counter(kDrafterPeerFaults, d(c.malformed), {{"kind", "malformed"}});
  page.counter(kDrafterPeerFaults, d(c.unknown_tags), {{"kind", "unknown"}});
  page.counter(kDrafterPeerFaults, d(c.misplaced), {{"kind", "misplaced"}});
  page.counter(kDrafterPeerFaults, d(c.unattached), {{"kind", "unattached"}});
  page.counter(kDrafterPeerFaults, d(c.attach_refused), {{"kind", "attach_refused"}});
  page.counter(kDrafterPeerFaults, d(c.worker.refusals), {{"kind", "refused_by_router"}});
  page.counter(kDrafterPeerFaults, d(c.quarantined), {{"kind", "quarantined"}});
  page.counter(kDrafterPeerFaults, d(c.worker.duplicate_routers), {{"kind", "duplicate_router"}});
}

}  // namespace

void add_drafter_metrics(const DrafterCounters& counters, Exposition& page) {
  add_drafts(counters, page);
  add_levels(counters, page);
  add_learnt(counters, page);
  add_sequences(counters, page);
  add_peers(counters, page);
}

}  // namespace slipstream
