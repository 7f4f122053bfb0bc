#include "services/router/read_worker.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "common/messages/shown_names.h"
#include "common/metrics/names.h"
#include "common/speculation/tuner.h"

namespace slipstream {
namespace {

// Samples by name, since a page is asked for many of them.
class Page {
 public:
  explicit Page(const Scrape& scrape) {
    for (const Sample& sample : scrape.samples()) samples_[sample.name].push_back(&sample);
  }
  bool has(const std::string& name) const { return samples_.contains(name); }
  const std::vector<const Sample*>& of(std::string_view name) const {
    static const std::vector<const Sample*> kNone;
    const auto at = samples_.find(name);
    return at == samples_.end() ? kNone : at->second;
  }
  // The sum over all samples of the name. Notes a name that is missing.
  double sum(std::string_view name) {
    const auto& samples = of(name);
    if (samples.empty() && missing_.empty()) missing_ = name;
    double total = 0;
    for (const Sample* sample : samples) total += sample->value;
    return total;
  }
  const std::string& missing() const { return missing_; }

 private:
  std::map<std::string, std::vector<const Sample*>, std::less<>> samples_;
  std::string missing_;
};

std::string sum_of(const MetricName& histogram) { return std::string(histogram.name) + "_sum"; }
std::string count_of(const MetricName& histogram) { return std::string(histogram.name) + "_count"; }

// The bin of a stated survival whose label is its upper end: "0.1" is 0.
std::optional<size_t> bin_of(std::string_view upper_end) {
  double end = 0;
  const auto [at, error] = std::from_chars(upper_end.data(), upper_end.data() + upper_end.size(), end);
  const bool whole = error == std::errc() && at == upper_end.data() + upper_end.size();
  if (!whole || !(end > 0 && end <= 1.001)) return std::nullopt;
  return survival_bin(end - 0.5 / kCalibrationBins);
}

std::optional<size_t> range_of(std::string_view depth) {
  for (size_t range = 0; range < kCalibrationDepths.size(); ++range) {
    if (calibration_range_name(range) == depth) return range;
  }
  return std::nullopt;
}

// Fills the kinds of a verifier's page.
class Kinds {
 public:
  explicit Kinds(const Page& page) : page_(page) {}

  // A counter of bins. place: which bin a label names. into: the number that the counter is.
  template <class Place, class Into>
  void add(const MetricName& metric, std::string_view label, const Place& place, const Into& into) {
    for (const Sample* sample : page_.of(metric.name)) {
      const auto bin = place(sample->label(label));
      KindReading* kind = bin ? find(*sample) : nullptr;
      if (kind != nullptr) into(*kind, *bin) = sample->value;
    }
  }
  void add(const MetricName& metric, double KindReading::*number) {
    for (const Sample* sample : page_.of(metric.name)) {
      if (KindReading* kind = find(*sample)) kind->*number = sample->value;
    }
  }
  std::vector<KindReading> take() { return std::move(kinds_); }

 private:
  KindReading* find(const Sample& sample) {
    const TunedKind wanted{.method = std::string(sample.label("method")), .model = std::string(sample.label("model"))};
    const auto at = std::ranges::find(kinds_, wanted, &KindReading::kind);
    if (at != kinds_.end()) return &*at;
    if (kinds_.size() >= kTunedKindsMax) return nullptr;
    return &kinds_.emplace_back(KindReading{.kind = wanted});
  }

  const Page& page_;
  std::vector<KindReading> kinds_;
};

std::vector<KindReading> kinds_of(const Page& page) {
  Kinds kinds(page);
  using Number = double NodeCounts::*;
  const auto survival = [](Number number) {
    return [number](KindReading& kind, size_t bin) -> double& { return kind.by_survival[bin].*number; };
  };
  const auto depth = [](Number number) {
    return [number](KindReading& kind, size_t bin) -> double& { return kind.by_depth[bin].*number; };
  };
  kinds.add(metric::kVerifierSurvivalNodes, "survival", bin_of, survival(&NodeCounts::verified));
  kinds.add(metric::kVerifierSurvivalStated, "survival", bin_of, survival(&NodeCounts::expected));
  kinds.add(metric::kVerifierSurvivalAccepted, "survival", bin_of, survival(&NodeCounts::accepted));
  kinds.add(metric::kVerifierDepthNodes, "depth", range_of, depth(&NodeCounts::verified));
  kinds.add(metric::kVerifierDepthExpected, "depth", range_of, depth(&NodeCounts::expected));
  kinds.add(metric::kVerifierDepthAccepted, "depth", range_of, depth(&NodeCounts::accepted));
  kinds.add(metric::kVerifierMetDeadlines, &KindReading::in_time);
  kinds.add(metric::kVerifierMissedDeadlines, &KindReading::late);
  kinds.add(metric::kVerifierDraftAnswerSeconds, &KindReading::answer_seconds);
  return kinds.take();
}

std::vector<StepCost> step_cost_of(const Page& page) {
  std::vector<StepCost> table;
  for (const Sample* sample : page.of(metric::kVerifierStepCostSeconds.name)) {
    const std::string_view label = sample->label("rows");
    int rows = 0;
    std::from_chars(label.data(), label.data() + label.size(), rows);
    table.push_back({.rows = static_cast<double>(rows), .seconds = sample->value});
  }
  std::ranges::sort(table, {}, &StepCost::rows);
  return table;
}

Result<WorkerReading> read_verifier(Page& page) {
  VerifierReading reading{.steps = page.sum(count_of(metric::kVerifierStepSeconds)),
                          .step_seconds = page.sum(sum_of(metric::kVerifierStepSeconds)),
                          .rounds = page.sum(metric::kVerifierRounds.name),
                          .tokens = page.sum(metric::kVerifierOutputTokens.name),
                          .step_overhead = page.sum(metric::kVerifierStepOverheadSeconds.name),
                          .step_cost = step_cost_of(page),
                          .kinds = kinds_of(page)};
  if (!reading.kinds.empty()) reading.wait_seconds = page.sum(metric::kVerifierDraftWaitSeconds.name);
  page.sum(metric::kVerifierStepCostSeconds.name);
  if (!page.missing().empty()) return fail("a verifier's page lacks {}", page.missing());
  return reading;
}

void add_levels(const Page& page, const MetricName& metric, double LevelCounts::* number, DrafterReading& reading) {
  for (const Sample* sample : page.of(metric.name)) {
    if (const auto range = range_of(sample->label("depth"))) reading.by_levels[*range].*number = sample->value;
  }
}

Result<WorkerReading> read_drafter(Page& page) {
  DrafterReading reading{.kind = {},
                         .jobs = page.sum(count_of(metric::kDrafterDraftSeconds)),
                         .seconds = page.sum(sum_of(metric::kDrafterDraftSeconds)),
                         .asks = page.sum(metric::kDrafterAnswers.name),
                         .nodes = page.sum(metric::kDrafterNodes.name)};
  add_levels(page, metric::kDrafterLevelJobs, &LevelCounts::jobs, reading);
  add_levels(page, metric::kDrafterLevels, &LevelCounts::levels, reading);
  add_levels(page, metric::kDrafterLevelSeconds, &LevelCounts::seconds, reading);
  for (const MetricName& needed : {metric::kDrafterVerdictCandidates, metric::kDrafterLevelJobs}) page.sum(needed.name);
  if (!page.missing().empty()) return fail("a drafter's page lacks {}", page.missing());
  const Sample& named = *page.of(metric::kDrafterVerdictCandidates.name).front();
  reading.kind = {.method = std::string(named.label("method")), .model = std::string(named.label("model"))};
  // A kind that has a drafter is tuned, and shown.
  TRY_VOID(check_method_name(reading.kind.method));
  TRY_VOID(check_model_name(reading.kind.model));
  return reading;
}

}  // namespace

Result<WorkerReading> read_worker(const Scrape& scrape) {
  Page page(scrape);
  const bool verifies = page.has(count_of(metric::kVerifierStepSeconds)),
             drafts = page.has(count_of(metric::kDrafterDraftSeconds));
  if (verifies == drafts) return fail("the page is that of {}", verifies ? "a verifier and a drafter at once" : "no worker");
  return verifies ? read_verifier(page) : read_drafter(page);
}

}  // namespace slipstream
