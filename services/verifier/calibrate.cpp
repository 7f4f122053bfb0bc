#include "services/verifier/calibrate.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <span>

#include "common/base/check.h"
#include "common/kv/block_table.h"
#include "common/model/step_plan.h"

namespace slipstream {
namespace {

using Clock = std::chrono::steady_clock;

// Sizes of steps that trees have, and those that prompts have, in the order in which they tell
// most.
constexpr std::array<int32_t, 6> kTreeSizes{1, 4, 2, 8, 16, 12};
constexpr std::array<int32_t, 8> kPromptSizes{64, 256, 32, 128, 24, 192, 512, 1024};
static_assert(kCostRows.back() == kStepRowsMax);
static_assert(kTreeSizes.size() + kPromptSizes.size() == kCostRows.size());
constexpr int kTreeSweeps = 2;          // over the sizes of trees, before one long step may take the rest of the time
constexpr int32_t kWarmRows = 16;       // whose first run only brings weights and pages in
constexpr int32_t kProbeRows = 32;      // of a chunk behind kCalibrateContext positions, beside one row there
constexpr int32_t kTokenStride = 7919;  // between the tokens of trial rows, a prime
constexpr int kProbes = 2;              // of each, of which the least time counts
constexpr std::array<int32_t, 3> kScreenedSizes{1, 2, 4};  // whose output layer a device may screen, if nothing is sampled

// Where a size stands in the table.
size_t at(int32_t rows) { return static_cast<size_t>(std::ranges::find(kCostRows, rows) - kCostRows.begin()); }

class Trials {
 public:
  Trials(LanguageModel& target, int32_t cache_blocks) : target_(target), pool_(cache_blocks), blocks_(pool_) {
    room_ = std::min(target.config().context_max, cache_blocks * kBlockTokens);
    CHECK(blocks_.reserve(room_), "{} blocks for {} positions", cache_blocks, room_);
    plan_.blocks_max = static_cast<int32_t>(blocks_.blocks().size());
  }

  int32_t room() const { return room_; }
  // Of a model whose layers all have it. In one with layers that see all, these are what a long
  // context takes time for.
  int32_t window() const {
    const LlamaConfig& config = target_.config();
    return config.full_attention_every == 0 ? config.attention_window : 0;
  }

  // Seconds of a step of rows each behind the one before, from that position on. Up to a tree's
  // size all are wanted.
  Result<double> run(int32_t rows, int32_t from, float temperature = 0) {
    plan_.clear();
    const int32_t sequence = plan_.add_sequence(blocks_.blocks());
    for (int32_t i = 0; i < rows; ++i) {
      const int32_t position = from + i;
      plan_.add({.token = any_token(i),
                 .position = position,
                 .slot = blocks_.slot(position),
                 .sequence = sequence,
                 .visible = position + 1});
      if (rows <= kTreeNodesMax + 1 || i + 1 == rows) plan_.want({.params = {.temperature = temperature}});
    }
    Step step = plan_.view();
    step.logits_read = false;
    const auto began = Clock::now();
    TRY_VOID(target_.run(step));
    return std::chrono::duration<double>(Clock::now() - began).count();
  }

 private:
  // Unlike each other, as those of a text are: equal rows have their outliers in equal columns, and
  // cost less.
  TokenId any_token(int32_t row) const {
    return static_cast<TokenId>(int64_t{kTokenStride} * (row + 1) % target_.config().vocabulary);
  }

  LanguageModel& target_;
  BlockPool pool_;
  BlockTable blocks_;
  int32_t room_ = 0;
  StepPlan plan_;
};

using Measured = std::array<std::optional<double>, kCostRows.size()>;

// The trials so far.
class Tries {
 public:
  Tries(const std::function<Result<double>(int32_t)>& run, int32_t room) : run_(run), room_(room) {}

  Result<void> one(int32_t rows) {
    if (rows > room_) return {};
    TRY(const double seconds, run_(rows));
    elapsed_ += seconds;
    const size_t place = at(rows);
    if (held_up(place, seconds)) return {};
    ++counts_[place];
    measured_[place] = std::min(seconds, measured_[place].value_or(seconds));
    return {};
  }
  // Those of these sizes for which there is time.
  Result<void> sweep(std::span<const int32_t> sizes, double time) {
    for (const int32_t rows : sizes) {
      if (!over(time)) TRY_VOID(one(rows));
    }
    return {};
  }
  bool over(double time) const { return undisturbed() >= time || elapsed_ >= kHeldUpMost * time; }
  // The time of all trials, had each taken the least of its size.
  double undisturbed() const {
    double seconds = 0;
    for (size_t i = 0; i < counts_.size(); ++i) seconds += counts_[i] * measured_[i].value_or(0);
    return seconds;
  }
  const Measured& measured() const { return measured_; }

 private:
  // Whether a step took over twice as long as its rows in steps of the next smaller size.
  bool held_up(size_t place, double seconds) const {
    for (size_t smaller = place; smaller-- > 0;) {
      if (measured_[smaller]) return seconds > 2 * *measured_[smaller] * kCostRows[place] / kCostRows[smaller];
    }
    return false;
  }

  const std::function<Result<double>(int32_t)>& run_;
  int32_t room_;
  double elapsed_ = 0;
  std::array<int, kCostRows.size()> counts_{};
  Measured measured_;
};

// The line through two that were measured, at that size.
double on_line(const Measured& measured, size_t left, size_t right, int32_t rows) {
  const double slope = (*measured[right] - *measured[left]) / (kCostRows[right] - kCostRows[left]);
  return *measured[left] + std::max(slope, 0.0) * (rows - kCostRows[left]);
}

StepTimes fill(const Measured& measured) {
  std::vector<size_t> known;
  for (size_t i = 0; i < measured.size(); ++i) {
    if (measured[i]) known.push_back(i);
  }
  StepTimes times{};
  for (size_t i = 0; i < times.size(); ++i) {
    const auto next = std::ranges::lower_bound(known, i);
    if (measured[i])
      times[i] = *measured[i];
    else if (known.size() == 1)
      times[i] = *measured[known.front()] * kCostRows[i];  // of one row alone: as if nothing were shared
    else if (next == known.end())
      times[i] = on_line(measured, known[known.size() - 2], known.back(), kCostRows[i]);
    else
      times[i] = on_line(measured, *(next - 1), *next, kCostRows[i]);
  }
  return times;
}

// What one row and kProbeRows rows take more behind a context than without: both read it once, and
// have pairs by their number. Through a window a row sees no more of the context than that.
Result<AttentionPrices> probe(Trials& trials, const StepTimes& times) {
  const int32_t context = std::min(kCalibrateContext, trials.room() - kProbeRows);
  if (context <= 0) return AttentionPrices{};
  const int32_t seen = trials.window() == 0 ? context : std::min(context, trials.window());
  double one = std::numeric_limits<double>::max(), all = one;
  for (int i = 0; i < kProbes; ++i) {
    TRY(const double alone, trials.run(1, context));
    TRY(const double beside, trials.run(kProbeRows, context));
    one = std::min(one, alone - times[at(1)]);
    all = std::min(all, beside - times[at(kProbeRows)]);
  }
  const double pair = std::clamp((all - one) / (kProbeRows - 1), 0.0, std::max(0.0, all / kProbeRows)) / seen;
  return AttentionPrices{.pair = pair, .read = std::max(0.0, one / seen - pair)};
}

// What steps that read the whole output layer take: those whose rows are sampled. Larger ones than
// are tried take as much more as the last.
Result<StepTimes> whole_steps(Trials& trials, StepTimes times) {
  for (const int32_t rows : kScreenedSizes) {
    if (rows > trials.room()) continue;
    double greedy = std::numeric_limits<double>::max(), sampled = greedy;
    for (int i = 0; i < kProbes; ++i) {
      TRY(const double one, trials.run(rows, 0));
      TRY(const double other, trials.run(rows, 0, /*temperature=*/1));
      greedy = std::min(greedy, one);
      sampled = std::min(sampled, other);
    }
    const double more = std::max(sampled - greedy, 0.0);
    const size_t last = rows == kScreenedSizes.back() ? times.size() : at(rows) + 1;
    for (size_t i = at(rows); i < last; ++i) times[i] += more;
  }
  return times;
}

}  // namespace

Result<StepTimes> time_steps(const std::function<Result<double>(int32_t rows)>& run, int32_t room,
                             std::chrono::duration<double> time) {
  Tries tries(run, room);
  const std::span<const int32_t> telling(kTreeSizes.data(), 2);
  for (const int32_t rows : telling) TRY_VOID(tries.one(rows));
  TRY_VOID(tries.sweep(telling, kHeldUpMost * time.count()));
  for (int i = 0; i < kTreeSweeps; ++i) TRY_VOID(tries.sweep(kTreeSizes, time.count()));
  while (!tries.over(time.count())) {
    TRY_VOID(tries.sweep(kPromptSizes, time.count()));
    TRY_VOID(tries.sweep(kTreeSizes, time.count()));
  }
  return fill(tries.measured());
}

Result<CostModel> calibrate(LanguageModel& target, int32_t cache_blocks, std::chrono::milliseconds time) {
  Trials trials(target, cache_blocks);
  TRY_VOID(trials.run(std::min(kWarmRows, trials.room()), 0));
  TRY(StepTimes times,
      time_steps([&](int32_t rows) { return trials.run(rows, 0); }, std::min(trials.room(), target.step_rows()), time));
  TRY(StepTimes whole, whole_steps(trials, times));
  TRY(const AttentionPrices attention, probe(trials, times));
  for (StepTimes* each : {&times, &whole}) {
    for (size_t i = 0; i < each->size(); ++i) {  // each row of a trial saw those before it
      double& seconds = (*each)[i];
      seconds = std::max(seconds / 2, seconds - attention.seconds(StepLoad{}.with(kCostRows[i], 0)));
    }
  }
  CostModel cost(times, attention, whole);
  cost.set_window(trials.window());
  return cost;
}

}  // namespace slipstream
