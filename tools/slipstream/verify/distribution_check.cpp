#include "tools/slipstream/verify/distribution_check.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "tools/slipstream/document.h"
#include "tools/statistics/holm.h"

namespace slipstream::command::verify {
namespace {

// Bytes that occur in no JSON string, so that no unit can be equal to them or contain them.
constexpr std::string_view kEnded = "\xff";
constexpr std::string_view kBetween = "\xfe";
constexpr double kDrawsPerPairCell = 40;  // of both sides together
constexpr size_t kPairCellsMin = 4;

using Texts = std::map<std::string, std::string>;  // text of a unit that is a token id

struct Tally {
  std::map<std::string, statistics::Pair> counts;  // sorted by category, so that the order is independent of the sides
  std::map<std::string, std::string> labels;       // [counts] for the report
};

using CategoryOf = std::function<std::string(const Sample&)>;

std::string unit_at(const Sample& sample, size_t position) {
  return position < sample.units.size() ? sample.units[position] : std::string(kEnded);
}

std::string label(const Texts& texts, const std::string& unit) {
  if (unit == kEnded) return "(end)";
  const auto text = texts.find(unit);
  return text == texts.end() ? command::quoted(unit) : fmt::format("{} {}", unit, command::quoted(text->second));
}

std::vector<Share> shares(const Tally& tally, const std::vector<std::string>& categories,
                          const std::vector<statistics::Cell>& cells) {
  std::vector<Share> shares;
  for (const statistics::Cell& cell : cells) {
    const bool alone = cell.categories.size() == 1;
    shares.push_back(
        {alone ? tally.labels.at(categories[cell.categories.front()]) : fmt::format("{} rare ones", cell.categories.size()),
         cell.count, !alone});
  }
  return shares;
}

DistributionTest test_of(Tally tally, const SamplePlace& place, std::string name) {
  std::vector<std::string> categories;
  std::vector<statistics::Pair> counts;
  for (const auto& [category, count] : tally.counts) {
    categories.push_back(category);
    counts.push_back(count);
  }
  const auto cells = statistics::pool(counts);
  return {.prompt = place.prompt,
          .temperature = place.temperature,
          .place = std::move(name),
          .shares = shares(tally, categories, cells),
          .test = statistics::compare(cells)};
}

Tally count(const Samples& samples, const CategoryOf& category) {
  Tally tally;
  for (const Sample& sample : samples.reference) tally.counts[category(sample)].reference += 1;
  for (const Sample& sample : samples.candidate) tally.counts[category(sample)].candidate += 1;
  return tally;
}

Texts texts_of(const Samples& samples) {
  Texts texts;
  for (const auto* side : {&samples.reference, &samples.candidate}) {
    for (const Sample& sample : *side) {
      for (size_t at = 0; at < std::min(sample.units.size(), sample.texts.size()); ++at) {
        texts.emplace(sample.units[at], sample.texts[at]);
      }
    }
  }
  return texts;
}

Tally count_units(const Samples& samples, const Texts& texts, size_t position) {
  Tally tally = count(samples, [position](const Sample& sample) { return unit_at(sample, position); });
  for (const auto& [unit, counted] : tally.counts) tally.labels[unit] = label(texts, unit);
  return tally;
}

// Share of the candidate's answers with a draft at one of `places` units from `position` on.
std::optional<double> drafted_at(const Samples& samples, size_t position, size_t places) {
  size_t told = 0, drafted = 0;
  for (const Sample& sample : samples.candidate) {
    told += sample.drafted.empty() ? 0 : 1;
    const auto there = std::span(sample.drafted).subspan(std::min(position, sample.drafted.size()));
    drafted += std::ranges::count(there.first(std::min(places, there.size())), 1) > 0 ? 1 : 0;
  }
  if (told == 0) return std::nullopt;
  return static_cast<double>(drafted) / static_cast<double>(samples.candidate.size());
}

// 64-bit FNV-1a, so that the cells are the same on every machine.
uint64_t hash(std::string_view text) {
  uint64_t value = 14695981039346656037ULL;
  for (char c : text) value = (value ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return value ^ (value >> 32);
}

// [candidate's draws] total variation that each answer declares for its units up to `unit`. An
// answer that ended before has declared its total.
std::vector<double> declared_until(const Samples& samples, size_t unit) {
  std::vector<double> declared = samples.declared;
  for (size_t i = 0; i < declared.size(); ++i) {
    const std::vector<double>& spent = samples.candidate[i].spent;
    if (!spent.empty()) declared[i] = spent[std::min(unit, spent.size() - 1)];
  }
  return declared;
}

// Numbers the categories in order of appearance, and tests whether the sides lie further apart than
// declared. until: index of the last unit on which the category depends.
statistics::Excess excess_of(const Samples& samples, const CategoryOf& category, size_t until) {
  std::map<std::string, size_t> numbers;
  const auto numbered = [&](const std::vector<Sample>& side) {
    std::vector<size_t> categories;
    for (const Sample& sample : side) categories.push_back(numbers.emplace(category(sample), numbers.size()).first->second);
    return categories;
  };
  const std::vector<size_t> reference = numbered(samples.reference), candidate = numbered(samples.candidate);
  return statistics::excess(reference, candidate, declared_until(samples, until));
}

// Shows the excess test in the fields of a chi-square test: z as the statistic, cells - 1 as the
// degrees.
void hold_to_declared(DistributionTest& test, const statistics::Excess& excess) {
  test.excess = excess;
  const double z = excess.error > 0 ? (excess.shift - excess.declared) / excess.error : 0;
  test.test = {.statistic = z, .degrees = std::max(0, static_cast<int>(excess.cells) - 1), .p_value = excess.p_value};
}

std::string pair_at(const Sample& sample, size_t position) {
  return unit_at(sample, position) + std::string(kBetween) + unit_at(sample, position + 1);
}

std::string pair_label(const Texts& texts, const std::string& pair) {
  const size_t between = pair.find(kBetween);
  return fmt::format("{}, {}", label(texts, pair.substr(0, between)), label(texts, pair.substr(between + kBetween.size())));
}

double apart(const statistics::Pair& count) { return std::abs(count.reference - count.candidate) / std::sqrt(count.both()); }

// Counts pairs in `cells` cells by hash. The label of a cell names its pair that differs most, for
// the reader only: the test uses the sums.
Tally count_pairs(const Samples& samples, const Texts& texts, size_t position, size_t cells) {
  const Tally pairs = count(samples, [=](const Sample& sample) { return pair_at(sample, position); });
  struct Shown {
    std::string pair;
    double apart = -1;
    size_t others = 0;
  };
  Tally tally;
  std::map<std::string, Shown> shown;
  for (const auto& [pair, counted] : pairs.counts) {
    const std::string cell = std::to_string(hash(pair) % cells);
    statistics::Pair& sum = tally.counts[cell];
    sum.reference += counted.reference;
    sum.candidate += counted.candidate;
    Shown& of = shown[cell];
    if (of.apart >= 0) ++of.others;
    if (apart(counted) > of.apart) of = {pair, apart(counted), of.others};
  }
  for (const auto& [cell, of] : shown) {
    tally.labels[cell] = pair_label(texts, of.pair);
    if (of.others > 0) tally.labels[cell] += fmt::format(" and {} other pair{}", of.others, of.others == 1 ? "" : "s");
  }
  return tally;
}

}  // namespace

std::vector<DistributionTest> distribution_tests(const Samples& samples, const SamplePlace& place) {
  const std::string_view unit = place.unit == Unit::character ? "character" : "token";
  std::vector<DistributionTest> tests;
  const Texts texts = texts_of(samples);
  const auto positions = static_cast<size_t>(place.positions);
  for (size_t position = 0; position < positions; ++position) {
    tests.push_back(test_of(count_units(samples, texts, position), place, fmt::format("{} {}", unit, position + 1)));
    tests.back().drafted = drafted_at(samples, position, 1);
    if (samples.declared.empty()) continue;
    hold_to_declared(tests.back(),
                     excess_of(samples, [position](const Sample& sample) { return unit_at(sample, position); }, position));
  }
  // Pairs need enough samples for each cell; with few samples the joint tests are left out.
  const double together = static_cast<double>(samples.reference.size() + samples.candidate.size());
  const size_t cells = std::min(statistics::kCellsMax, static_cast<size_t>(together / kDrawsPerPairCell));
  if (cells < kPairCellsMin) return tests;
  for (size_t position = 0; position + 1 < positions; ++position) {
    tests.push_back(test_of(count_pairs(samples, texts, position, cells), place,
                            fmt::format("{}s {} and {}, jointly", unit, position + 1, position + 2)));
    tests.back().drafted = drafted_at(samples, position, 2);
    if (samples.declared.empty()) continue;
    hold_to_declared(tests.back(),
                     excess_of(samples, [position](const Sample& sample) { return pair_at(sample, position); }, position + 1));
  }
  return tests;
}

void correct(DistributionResult& result) {
  std::vector<double> p_values;
  for (const DistributionTest& test : result.tests) p_values.push_back(test.test.p_value);
  const std::vector<double> adjusted_p = statistics::holm(p_values);
  // The level of Holm's strictest step, so that the power below holds for every test.
  const double each = result.alpha / static_cast<double>(std::max<size_t>(1, result.tests.size()));
  for (size_t i = 0; i < result.tests.size(); ++i) {
    DistributionTest& test = result.tests[i];
    test.adjusted_p = adjusted_p[i];
    if (test.test.degrees == 0) continue;
    if (test.excess) {
      test.shift_found = statistics::excess_found(*test.excess, each, kPower, static_cast<double>(result.samples));
      test.draws_needed = statistics::draws_for_excess(*test.excess, each, kPower, kSmallShift);
      continue;
    }
    test.shift_found = statistics::shift_found(test.test.degrees, each, kPower, static_cast<double>(result.samples));
    test.draws_needed = statistics::draws_for(test.test.degrees, each, kPower, kSmallShift);
  }
}

bool DistributionResult::different() const {
  return std::ranges::any_of(tests, [this](const DistributionTest& test) { return test.adjusted_p <= alpha; });
}

const DistributionTest* DistributionResult::worst() const {
  const auto at = std::ranges::min_element(tests, {}, [](const DistributionTest& test) { return test.test.p_value; });
  return at == tests.end() ? nullptr : &*at;
}

double DistributionResult::declared() const {
  double most = 0;
  for (const DistributionTest& test : tests)
    if (test.excess) most = std::max(most, test.excess->declared);
  return most;
}

double DistributionResult::shift_found() const {
  double most = 0;
  for (const DistributionTest& test : tests)
    if (test.test.degrees > 0) most = std::max(most, test.shift_found);
  return most;
}

double DistributionResult::draws_needed() const {
  double most = 0;
  for (const DistributionTest& test : tests) most = std::max(most, test.draws_needed);
  return most;
}

}  // namespace slipstream::command::verify
