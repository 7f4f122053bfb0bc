#include "common/speculation/tuner.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/speculation/reading_change.h"

namespace slipstream {
namespace {

constexpr double kAlike = 0.05;          // variance of the depths of trees, in levels squared, that tells no slope
constexpr double kSurvivalOfAny = 0.01;  // a node of at least this survival pays: every node does

// What the `total` older counts weigh once `more` newer ones are there, `seconds` later.
double fade(double total, double more, double seconds, const Remembered& remembered) {
  const double by_time = total > 0 ? std::max(std::exp(-seconds / remembered.seconds), remembered.least / total) : 1;
  return std::min({1.0, by_time, std::exp(-more / remembered.counts)});
}

// Seconds of a pass of that many rows: linear between the entries of the table, and beyond them.
double seconds_of(const std::vector<StepCost>& table, double rows) {
  if (table.empty()) return 0;
  if (table.size() == 1) return table.front().seconds;
  const auto above = std::ranges::find_if(table, [&](const StepCost& entry) { return entry.rows >= rows; });
  const size_t right = std::clamp<size_t>(static_cast<size_t>(above - table.begin()), 1, table.size() - 1);
  const auto& [low, low_seconds] = table[right - 1];
  const auto& [high, high_seconds] = table[right];
  return low_seconds + (high_seconds - low_seconds) * (rows - low) / (high - low);
}

void add(NodeCounts& to, const NodeCounts& more, double weight) {
  to.verified = to.verified * weight + more.verified;
  to.expected = to.expected * weight + more.expected;
  to.accepted = to.accepted * weight + more.accepted;
}

double verified(const KindReading& kind) {
  double nodes = 0;
  for (const NodeCounts& bin : kind.by_survival) nodes += bin.verified;
  return nodes;
}

SurvivalCurve curve_of(const TunerSetting& setting) {
  SurvivalCurve::Cells cells;
  for (size_t bin = 0; bin < cells.size(); ++bin)
    cells[bin] = {setting.by_survival[bin].verified, setting.by_survival[bin].accepted};
  SurvivalCurve curve;
  curve.fit(cells);
  return curve;
}

}  // namespace

double TunerSetting::nodes() const {
  double nodes = 0;
  for (const NodeCounts& bin : by_survival) nodes += bin.verified;
  return nodes;
}

const TunerSetting* Tuner::find(const TunedKind& kind) const {
  const auto at = settings_.find(kind);
  return at == settings_.end() ? nullptr : &at->second;
}

// Only what has a drafter is tuned: the setting begins with the first reading of one.
TunerSetting* Tuner::setting(const TunedKind& kind) {
  if (const auto at = settings_.find(kind); at != settings_.end()) return &at->second;
  if (settings_.size() >= kTunedKindsMax) {
    ++counters_.overflow;
    return nullptr;
  }
  return &settings_.emplace(kind, TunerSetting{.kind = kind, .threshold = first_threshold_}).first->second;
}

// Null: there is nothing to compare the reading with, or no room for its worker.
Tuner::Source* Tuner::source(const std::string& name, const WorkerReading& reading, double now) {
  const auto at = sources_.find(name);
  if (at != sources_.end() && at->second.last.index() == reading.index()) return &at->second;
  if (at == sources_.end() && sources_.size() >= kTunerSourcesMax) {
    ++counters_.overflow;
    return nullptr;
  }
  sources_.insert_or_assign(name, Source{.last = reading, .read_at = now, .load = {}});
  if (const auto* drafter = std::get_if<DrafterReading>(&reading)) setting(drafter->kind);
  return nullptr;
}

void Tuner::read(const std::string& name, const WorkerReading& reading, double now) {
  if (!possible(reading)) return refuse(reading);
  Source* at = source(name, reading, now);
  if (at == nullptr || at->last == reading) return;  // an idle worker, or a Prometheus that asks it less often
  const ReadingChange change = change_of(at->last, reading);
  const double passed = now - std::exchange(at->read_at, now);
  at->last = reading;
  if (change.restarted) {
    ++counters_.restarts;
    return;
  }
  if (!possible(change.more, passed)) return refuse(reading);
  ++counters_.readings;
  std::visit([&](const auto& more) { take(at->load, more, now); }, change.more);
  const auto heard = [&](const TunedKind& kind) {
    if (!settings_.contains(kind)) return;
    news_[kind] = now;
    undecided_.try_emplace(kind, now);
  };
  if (const auto* drafter = std::get_if<DrafterReading>(&reading)) return heard(drafter->kind);
  for (const KindReading& kind : std::get<VerifierReading>(reading).kinds) heard(kind.kind);
}

void Tuner::take(Load& load, const VerifierReading& more, double now) {
  const double weight = fade(load.steps, more.steps, now - std::exchange(load.at, now), kStepsRemembered);
  load.steps = load.steps * weight + more.steps;
  load.seconds = load.seconds * weight + more.step_seconds + more.wait_seconds;
  load.wait = load.wait * weight + more.wait_seconds;
  load.rounds = load.rounds * weight + more.rounds;
  load.tokens = load.tokens * weight + more.tokens;
  load.overhead = more.step_overhead;
  load.cost = more.step_cost;
  for (const KindReading& kind : more.kinds) take(kind, now);
}

void Tuner::take(const KindReading& more, double now) {
  const auto at = settings_.find(more.kind);
  if (at == settings_.end()) return;
  TunerSetting& setting = at->second;
  const double seconds = now - std::exchange(counted_at_[more.kind], now);
  const double weight = fade(setting.nodes(), verified(more), seconds, kNodesRemembered);
  for (size_t bin = 0; bin < more.by_survival.size(); ++bin) add(setting.by_survival[bin], more.by_survival[bin], weight);
  for (size_t range = 0; range < more.by_depth.size(); ++range) add(setting.by_depth[range], more.by_depth[range], weight);
  const double asks = fade(setting.in_time + setting.late, more.in_time + more.late, seconds, kAsksRemembered);
  setting.in_time = setting.in_time * asks + more.in_time;
  setting.late = setting.late * asks + more.late;
  if (more.answer_seconds > 0) setting.answer_seconds = more.answer_seconds;
}

void Tuner::take(Load&, const DrafterReading& more, double now) {
  if (setting(more.kind) == nullptr) return;
  Drafts& drafts = drafts_[more.kind];
  const double weight = fade(drafts.jobs, more.jobs, now - std::exchange(drafts.at, now), kJobsRemembered);
  drafts.jobs = drafts.jobs * weight + more.jobs;
  drafts.asks = drafts.asks * weight + more.asks;
  drafts.nodes = drafts.nodes * weight + more.nodes;
  for (size_t range = 0; range < drafts.by_levels.size(); ++range) {
    LevelCounts& counts = drafts.by_levels[range];
    const LevelCounts& newer = more.by_levels[range];
    counts.jobs = counts.jobs * weight + newer.jobs;
    counts.levels = counts.levels * weight + newer.levels;
    counts.seconds = counts.seconds * weight + newer.seconds;
  }
}

void Tuner::failed(bool reached) { ++(reached ? counters_.unreadable : counters_.unreached); }

void Tuner::refuse(const WorkerReading& reading) {
  ++counters_.refused;
  const auto mark = [&](const TunedKind& kind) {
    if (const auto at = settings_.find(kind); at != settings_.end()) at->second.reason = TuneReason::refused;
  };
  if (const auto* drafter = std::get_if<DrafterReading>(&reading)) return mark(drafter->kind);
  for (const KindReading& kind : std::get<VerifierReading>(reading).kinds) mark(kind.kind);
}

void Tuner::look(double now) {
  std::erase_if(sources_, [&](const auto& entry) { return now - entry.second.read_at > kSourceForgotten; });
  std::erase_if(undecided_, [&](const auto& entry) {
    const bool due = now - entry.second >= kScrapeTakes;
    if (due) decide(settings_.at(entry.first), now);
    return due;
  });
  for (auto& [kind, setting] : settings_) {
    const auto heard = news_.find(kind);
    const bool silent = heard != news_.end() && now - heard->second > kSourceSilent;
    if (silent && setting.reason != TuneReason::refused) setting.reason = TuneReason::stopped;
  }
}

// A line through the ranges of depths, by least squares. Where all trees are alike in depth it goes
// through zero.
std::optional<Tuner::Job> Tuner::job_of(const TunedKind& kind) const {
  const auto at = drafts_.find(kind);
  if (at == drafts_.end() || at->second.jobs < kJobsToDecide) return std::nullopt;
  const Drafts& drafts = at->second;
  LevelCounts all;
  for (const LevelCounts& counts : drafts.by_levels) {
    all = {all.jobs + counts.jobs, all.levels + counts.levels, all.seconds + counts.seconds};
  }
  if (all.jobs <= 0 || all.levels <= 0) return std::nullopt;
  const double levels = all.levels / all.jobs, seconds = all.seconds / all.jobs;
  double variance = 0, covariance = 0;
  for (const LevelCounts& counts : drafts.by_levels) {
    if (counts.jobs <= 0) continue;
    const double beyond = counts.levels / counts.jobs - levels;
    variance += counts.jobs / all.jobs * beyond * beyond;
    covariance += counts.jobs / all.jobs * beyond * (counts.seconds / counts.jobs - seconds);
  }
  Job job{.seconds = seconds, .asks = drafts.asks / drafts.jobs};
  job.level_seconds = variance > kAlike ? std::clamp(covariance / variance, 0.0, seconds / levels) : seconds / levels;
  job.fixed_seconds = seconds - job.level_seconds * levels;
  job.nodes_a_level = std::max(1.0, drafts.nodes / std::max(drafts.asks, 1.0) / levels);
  return job;
}

Tuner::Price Tuner::price_of(const Job& job, double late_share, double now) const {
  Price price;
  double weights = 0, roots = 0, waits = 0, steps = 0;
  for (const auto& [name, source] : sources_) {
    const Load& load = source.load;
    if (load.steps <= 0 || load.seconds <= 0 || load.rounds <= 0 || now - source.read_at > kSourceSilent) continue;
    const double each = load.seconds / load.steps + load.overhead;  // seconds of a step
    const double rows = std::max(1.0, load.rounds / load.steps);
    const double lambda = load.tokens / load.steps / each;
    const double row_seconds = std::max(0.0, seconds_of(load.cost, 2 * rows) - seconds_of(load.cost, rows)) / rows;
    price.verify += load.rounds * lambda * row_seconds;
    price.lambda += load.rounds * lambda;
    price.step_seconds += load.rounds * each;
    roots += load.rounds * rows;
    weights += load.rounds;
    waits += load.wait;
    steps += load.steps;
  }
  if (steps < kStepsToDecide) return {};
  for (double* mean : {&price.verify, &price.lambda, &price.step_seconds, &roots}) *mean /= weights;
  price.wait_share = job.seconds > 0 ? std::min(1.0, waits / steps / job.seconds) : 0;
  const double together = std::clamp(job.asks, 1.0, std::max(1.0, roots));
  const double share = late_share + (1 - late_share) * price.wait_share;
  price.draft = price.lambda * job.level_seconds * share / (job.nodes_a_level * together);
  return price;
}

void Tuner::decide(TunerSetting& setting, double now) {
  const std::optional<Job> job = job_of(setting.kind);
  if (job) bound_depth(setting, *job);
  const Price price = job ? price_of(*job, setting.late_share(), now) : Price{};
  if (price.lambda <= 0 || setting.nodes() < kNodesToDecide) {
    setting.reason = TuneReason::few_counts;
    return;
  }
  setting.verify_price = price.verify;
  setting.draft_price = price.draft;
  setting.tokens_per_second = price.lambda;
  setting.step_seconds = price.step_seconds;
  setting.wait_share = price.wait_share;
  setting.theorem_threshold = price.step_seconds / (price.step_seconds + setting.level_seconds);
  const float least = curve_of(setting).survival_of(static_cast<float>(std::min(price.verify + price.draft, 2.0)));
  if (least > 1) return move(setting, 0, TuneReason::no_node_pays);
  if (least <= kSurvivalOfAny) return move(setting, 1, TuneReason::every_node_pays);
  move(setting, 1 - least, TuneReason::price);
}

void Tuner::bound_depth(TunerSetting& setting, const Job& job) {
  setting.level_seconds = job.level_seconds;
  if (setting.level_seconds <= 0) return;
  const double left = deadline_ - job.fixed_seconds - std::max(0.0, setting.answer_seconds - job.seconds);
  const auto levels = [&](double share) {
    return static_cast<int>(std::clamp(share * left / setting.level_seconds, 1.0, static_cast<double>(depth_max_)));
  };
  const int now = std::min(setting.depth_max, depth_max_);
  const int depth = levels(kInTime) < now ? levels(kInTime) : std::max(now, levels(kDeeperInTime));
  if (std::exchange(setting.depth_max, depth) != depth && depth != now) changed(setting);
}

void Tuner::move(TunerSetting& setting, float threshold, TuneReason reason) {
  setting.reason = reason;
  const float by = std::abs(threshold - setting.threshold);
  const bool to_an_end = by > 0 && (threshold == 0 || threshold == 1);
  if (by < kThresholdStep && !to_an_end) return;
  setting.threshold = threshold;
  changed(setting);
}

void Tuner::changed(TunerSetting& setting) {
  ++setting.version;
  ++counters_.changes;
}

}  // namespace slipstream
