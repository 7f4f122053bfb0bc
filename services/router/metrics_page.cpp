#include "services/router/metrics_page.h"

#include <string>

#include <fmt/format.h>

namespace slipstream {
namespace {

using namespace metric;

double d(uint64_t count) { return static_cast<double>(count); }

void add_requests(const RouterCounters& c, Exposition& page) {
  page.counter(kRouterSubmitted, d(c.submitted));
  page.counter(kRouterRequests, d(c.stopped), {{"outcome", "stop"}});
  page.counter(kRouterRequests, d(c.length), {{"outcome", "length"}});
  page.counter(kRouterRequests, d(c.abandoned), {{"outcome", "abandoned"}});
  page.counter(kRouterRequests, d(c.failed), {{"outcome", "failed"}});
  page.counter(kRouterRequests, d(c.refused), {{"outcome", "refused"}});
  page.counter(kRouterRequests, d(c.rejected_full), {{"outcome", "queue_full"}});
  page.counter(kRouterRequests, d(c.overloaded), {{"outcome", "overloaded"}});
  page.counter(kRouterRequests, d(c.waited_too_long), {{"outcome", "waited_too_long"}});
  page.gauge(kRouterLive, d(c.live));
  page.gauge(kRouterWaiting, d(c.waiting));
  page.gauge(kRouterExpectedWait, c.expected_wait_seconds);
  page.histogram(kRouterQueueSeconds, c.queue_seconds);
  page.histogram(kRouterFirstTokenSeconds, c.first_token_seconds);
  page.histogram(kRouterInterTokenSeconds, c.between_tokens_seconds);
  page.histogram(kRouterRequestSeconds, c.request_seconds);
}

void add_tokens(const RouterCounters& c, Exposition& page) {
  page.counter(kRouterPromptTokens, d(c.prompt_tokens));
  page.counter(kRouterOutputTokens, d(c.drafted_tokens), {{"drafted", "yes"}});
  page.counter(kRouterOutputTokens, d(c.output_tokens - c.drafted_tokens), {{"drafted", "no"}});
  page.counter(kRouterTokenFaults, d(c.repeated_tokens), {{"kind", "repeated"}});
  page.counter(kRouterTokenFaults, d(c.gaps), {{"kind", "gap"}});
  page.counter(kRouterTokenFaults, d(c.quiet), {{"kind", "quiet"}});
  page.counter(kRouterTokenFaults, d(c.stale), {{"kind", "stale"}});
  page.counter(kRouterTokenFaults, d(c.invalid_tokens), {{"kind", "invalid"}});
  page.counter(kRouterStarts, d(c.starts - c.replays), {{"kind", "first"}});
  page.counter(kRouterStarts, d(c.starts_repeated), {{"kind", "repeated"}});
  page.counter(kRouterStarts, d(c.replays), {{"kind", "replay"}});
  page.counter(kRouterPlacements, d(c.placed_by_load), {{"why", "load"}});
  page.counter(kRouterPlacements, d(c.placed_by_affinity), {{"why", "affinity"}});
  page.counter(kRouterPlacements, d(c.moved), {{"why", "rebalance"}});
  page.counter(kRouterAssigns, d(c.assigns));
  page.counter(kRouterStartsRefused, d(c.starts_refused));
}

// One counter for each rule that was asked for and each reason why another ran: at temperature 0
// greedy runs, otherwise coupled. Coupled needs no trusted drafter, so it lacks that reason.
void add_rules(const RuleCounts& rules, Exposition& page) {
  for (size_t rule = 0; rule < rules.asked.size(); ++rule) {
    const bool believes = kRuleNames[rule] != "coupled";
    for (size_t reason = 0; reason < kRuleReasons.size(); ++reason) {
      const bool greedy = reason == static_cast<size_t>(RuleReason::temperature_zero);
      if (!believes && reason == static_cast<size_t>(RuleReason::no_trusted_drafter)) continue;
      const std::string_view ran = reason == 0 ? kRuleNames[rule] : greedy ? "greedy" : "coupled";
      page.counter(kRouterRules, d(rules.asked[rule][reason]),
                   {{"asked", kRuleNames[rule]}, {"ran", ran}, {"reason", kRuleReasons[reason]}});
    }
  }
  page.counter(kRouterRules, d(rules.plain), {{"asked", "off"}, {"ran", "off"}, {"reason", ""}});
}

void add_workers(const RouterCounters& c, Exposition& page) {
  page.gauge(kRouterWorkers, d(c.verifiers), {{"role", "verifier"}});
  page.gauge(kRouterWorkers, d(c.drafters), {{"role", "drafter"}});
  for (const WorkerFacts& worker : *c.workers) {
    const auto name = fmt::format("{:016x}", worker.incarnation);
    page.gauge(kRouterWorkerBusy, static_cast<double>(worker.busy),
               {{"role", worker.role == Role::verifier ? "verifier" : "drafter"}, {"incarnation", name}});
    if (worker.greedy_gain) page.gauge(kRouterDrafterGain, *worker.greedy_gain, {{"rule", "greedy"}, {"incarnation", name}});
    if (worker.coupled_gain) page.gauge(kRouterDrafterGain, *worker.coupled_gain, {{"rule", "coupled"}, {"incarnation", name}});
  }
  page.counter(kRouterWorkerFaults, d(c.workers_refused), {{"kind", "refused"}});
  page.counter(kRouterWorkerFaults, d(c.workers_lost), {{"kind", "lost"}});
  page.counter(kRouterWorkerFaults, d(c.workers_silenced), {{"kind", "silent"}});
  page.counter(kRouterWorkerFaults, d(c.workers_stuck), {{"kind", "stuck"}});
  page.counter(kRouterWorkerFaults, d(c.quarantined), {{"kind", "quarantined"}});
  page.counter(kRouterPeerFaults, d(c.malformed), {{"kind", "malformed"}});
  page.counter(kRouterPeerFaults, d(c.unknown_tags), {{"kind", "unknown"}});
  page.counter(kRouterPeerFaults, d(c.strangers), {{"kind", "stranger"}});
}

}  // namespace

void add_router_metrics(const RouterCounters& counters, Exposition& page) {
  add_requests(counters, page);
  add_tokens(counters, page);
  add_rules(counters.rules, page);
  add_workers(counters, page);
}

void add_error_metrics(const ErrorCountsByCode& counts, Exposition& page) {
  for (size_t code = 0; code < counts.size(); ++code) {
    page.counter(kRouterErrors, d(counts[code]), {{"code", kErrorCodes[code]}});
  }
}

}  // namespace slipstream
