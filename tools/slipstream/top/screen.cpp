#include "tools/slipstream/top/screen.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/metrics/names.h"
#include "tools/slipstream/top/increase.h"
#include "tools/slipstream/top/kinds.h"

namespace slipstream::command::top {
namespace {

using namespace metric;

constexpr size_t kNameLetters = 8;  // of an incarnation: enough to tell workers apart

std::string with(std::string_view name, std::string_view ending) { return fmt::format("{}{}", name, ending); }

double count_of(const Scrape& page, std::string_view histogram) { return page.sum(with(histogram, "_count")); }

Figure mean_of(const Scrape& grown, std::string_view histogram) {
  return ratio(grown.sum(with(histogram, "_sum")), count_of(grown, histogram));
}

std::optional<Percentiles> percentiles(const Scrape* grown, const Scrape& page, std::string_view histogram) {
  const bool fresh = grown != nullptr && count_of(*grown, histogram) > 0;
  const Scrape& of = fresh ? *grown : page;
  if (count_of(of, histogram) <= 0) return std::nullopt;
  return Percentiles{of.quantile(histogram, 0.5), of.quantile(histogram, 0.9), of.quantile(histogram, 0.99), !fresh};
}

const WorkerLook* same_worker(const FleetLook* look, const WorkerLook& worker) {
  if (look == nullptr) return nullptr;
  const auto at = std::ranges::find(look->workers, worker.incarnation, &WorkerLook::incarnation);
  return at == look->workers.end() ? nullptr : &*at;
}

// What the page of a process has grown by; nullopt: it was not read both times.
std::optional<Scrape> grown(const std::optional<Scrape>& before, const std::optional<Scrape>& now) {
  return before && now ? std::optional(increase(*before, *now)) : std::nullopt;
}

double failed(const Scrape& page) {
  double total = 0;
  for (const char* outcome : {"failed", "queue_full", "overloaded", "waited_too_long"}) {
    total += page.sum(kRouterRequests.name, {{"outcome", outcome}});
  }
  return total;
}

RouterFigures router_figures(const Scrape& page, const Scrape* more, double seconds) {
  RouterFigures figures{.running = page.sum(kRouterLive.name), .waiting = page.sum(kRouterWaiting.name)};
  figures.first_token = percentiles(more, page, kRouterFirstTokenSeconds.name);
  figures.next_token = percentiles(more, page, kRouterInterTokenSeconds.name);
  if (more == nullptr) return figures;
  const double tokens = more->sum(kRouterOutputTokens.name);
  figures.ended_per_s = ratio(more->sum(kRouterRequests.name), seconds);
  figures.failed_per_s = ratio(failed(*more), seconds);
  figures.tokens_per_s = ratio(tokens, seconds);
  figures.drafted_share = ratio(more->sum(kRouterOutputTokens.name, {{"drafted", "yes"}}), tokens);
  return figures;
}

template <class Figures>
Figures worker_figures(const WorkerLook& worker) {
  return {.name = worker.incarnation.substr(0, kNameLetters),
          .state = worker.state,
          .what = worker.what,
          .read = worker.page.has_value(),
          .streams = worker.sequences,
          .busy = worker.busy};
}

VerifierFigures verifier_figures(const WorkerLook& worker, const std::optional<Scrape>& more, double seconds) {
  auto figures = worker_figures<VerifierFigures>(worker);
  if (worker.page) figures.waiting = worker.page->sum(kVerifierSequencesWaiting.name);
  if (!more) return figures;
  const double steps = count_of(*more, kVerifierStepSeconds.name);
  figures.tokens_per_s = ratio(more->sum(kVerifierOutputTokens.name), seconds);
  figures.steps_per_s = ratio(steps, seconds);
  figures.step_s = mean_of(*more, kVerifierStepSeconds.name);
  figures.rows = ratio(more->sum(kVerifierStepRows.name), steps);
  return figures;
}

DrafterFigures drafter_figures(const WorkerLook& worker, const std::optional<Scrape>& more, double seconds) {
  auto figures = worker_figures<DrafterFigures>(worker);
  figures.greedy_gain = worker.greedy_gain;
  figures.sampled_gain = worker.coupled_gain;
  if (!more) return figures;
  figures.asks_per_s = ratio(more->sum(kDrafterAsks.name), seconds);
  figures.trees_per_s = ratio(more->sum(kDrafterAnswers.name, {{"answer", "tree"}}), seconds);
  figures.nodes_per_s = ratio(more->sum(kDrafterNodes.name, {{"fate", "sent"}}), seconds);
  figures.draft_s = mean_of(*more, kDrafterDraftSeconds.name);
  return figures;
}

std::vector<ThresholdFigures> thresholds_of(const std::optional<TuningLook>& tuning) {
  std::vector<ThresholdFigures> thresholds;
  if (!tuning) return thresholds;
  for (const SettingLook& kind : tuning->kinds) {
    thresholds.push_back(
        {kind_name(kind.method, kind.model), kind.threshold, kind.depth_max, kind.why, kind.verify_price, kind.draft_price});
  }
  if (thresholds.empty()) thresholds.push_back({.threshold = tuning->first_threshold, .why = "nothing is tuned"});
  return thresholds;
}

}  // namespace

std::string kind_name(std::string_view method, std::string_view model) {
  return model.empty() ? std::string(method) : fmt::format("{} ({})", method, model);
}

Screen make_screen(const FleetLook* before, const FleetLook& now) {
  Screen screen{.url = now.url, .model = now.model, .trouble = now.trouble, .thresholds = thresholds_of(now.tuning)};
  const double seconds = before == nullptr ? 0 : now.at_s - before->at_s;
  if (seconds > 0) screen.span_s = seconds;
  const auto router = before == nullptr ? std::nullopt : grown(before->router, now.router);
  if (now.router) screen.router = router_figures(*now.router, router ? &*router : nullptr, seconds);
  Verified verified;
  for (const WorkerLook& worker : now.workers) {
    const WorkerLook* earlier = same_worker(before, worker);
    const auto more = earlier == nullptr ? std::nullopt : grown(earlier->page, worker.page);
    if (worker.role != "verifier") {
      screen.drafters.push_back(drafter_figures(worker, more, seconds));
      continue;
    }
    screen.verifiers.push_back(verifier_figures(worker, more, seconds));
    if (worker.page) verified.add(*worker.page, more ? &*more : nullptr);
  }
  screen.tokens_a_step = verified.tokens_a_step();
  screen.depths = verified.depths();
  screen.kinds = verified.kinds(seconds);
  return screen;
}

}  // namespace slipstream::command::top
