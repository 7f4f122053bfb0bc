#include "tools/slipstream/verify/law.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "common/statistics/holm.h"
#include "tools/slipstream/verify/visible.h"

namespace slipstream::command::verify {
namespace {

// No JSON string has these bytes, so that they can be no unit's.
constexpr std::string_view kEnded = "\xff";
constexpr std::string_view kBetween = "\xfe";
constexpr double kDrawsPerPairCell = 40;  // of both sides together
constexpr size_t kPairCellsMin = 4;

using Texts = std::map<std::string, std::string>;  // what a unit says, where it is no text itself

struct Tally {
  std::map<std::string, statistics::Pair> counts;  // by category, so that their order tells nothing of the sides
  std::map<std::string, std::string> labels;       // [counts] for a person
};

using CategoryOf = std::function<std::string(const Draw&)>;

std::string unit_at(const Draw& draw, size_t position) {
  return position < draw.units.size() ? draw.units[position] : std::string(kEnded);
}

std::string label(const Texts& texts, const std::string& unit) {
  if (unit == kEnded) return "(end)";
  const auto text = texts.find(unit);
  return text == texts.end() ? quoted(unit) : fmt::format("{} {}", unit, quoted(text->second));
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

LawTest test_of(Tally tally, const LawPlace& place, std::string name) {
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

Tally count(const Draws& draws, const CategoryOf& category) {
  Tally tally;
  for (const Draw& draw : draws.reference) tally.counts[category(draw)].reference += 1;
  for (const Draw& draw : draws.candidate) tally.counts[category(draw)].candidate += 1;
  return tally;
}

Texts texts_of(const Draws& draws) {
  Texts texts;
  for (const auto* side : {&draws.reference, &draws.candidate}) {
    for (const Draw& draw : *side) {
      for (size_t at = 0; at < std::min(draw.units.size(), draw.texts.size()); ++at) {
        texts.emplace(draw.units[at], draw.texts[at]);
      }
    }
  }
  return texts;
}

Tally count_units(const Draws& draws, const Texts& texts, size_t position) {
  Tally tally = count(draws, [position](const Draw& draw) { return unit_at(draw, position); });
  for (const auto& [unit, counted] : tally.counts) tally.labels[unit] = label(texts, unit);
  return tally;
}

// Share of the candidate's answers that had a draft at one of `places` units from `position` on.
std::optional<double> drafted_at(const Draws& draws, size_t position, size_t places) {
  size_t told = 0, drafted = 0;
  for (const Draw& draw : draws.candidate) {
    told += draw.drafted.empty() ? 0 : 1;
    const auto there = std::span(draw.drafted).subspan(std::min(position, draw.drafted.size()));
    drafted += std::ranges::count(there.first(std::min(places, there.size())), 1) > 0 ? 1 : 0;
  }
  if (told == 0) return std::nullopt;
  return static_cast<double>(drafted) / static_cast<double>(draws.candidate.size());
}

// FNV-1a of 64 bits: the same cells on every machine.
uint64_t hash(std::string_view text) {
  uint64_t value = 14695981039346656037ULL;
  for (char c : text) value = (value ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return value ^ (value >> 32);
}

// [the candidate's draws] total variation that each declares for its units up to this one.
std::vector<double> declared_until(const Draws& draws, size_t unit) {
  std::vector<double> declared = draws.declared;
  for (size_t i = 0; i < declared.size(); ++i) {
    const std::vector<double>& spent = draws.candidate[i].spent;
    if (!spent.empty()) declared[i] = spent[std::min(unit, spent.size() - 1)];
  }
  return declared;
}

// The category of each draw, numbered as they come, and the test whether the sides lie further apart than is declared.
// until: the last unit that the category knows of.
statistics::Excess excess_of(const Draws& draws, const CategoryOf& category, size_t until) {
  std::map<std::string, size_t> numbers;
  const auto numbered = [&](const std::vector<Draw>& side) {
    std::vector<size_t> categories;
    for (const Draw& draw : side) categories.push_back(numbers.emplace(category(draw), numbers.size()).first->second);
    return categories;
  };
  const std::vector<size_t> reference = numbered(draws.reference), candidate = numbered(draws.candidate);
  return statistics::excess(reference, candidate, declared_until(draws, until));
}

void hold_to_declared(LawTest& test, const statistics::Excess& excess) {
  test.excess = excess;
  const double z = excess.error > 0 ? (excess.shift - excess.declared) / excess.error : 0;
  test.test = {.statistic = z, .degrees = std::max(0, static_cast<int>(excess.cells) - 1), .p_value = excess.p_value};
}

std::string pair_at(const Draw& draw, size_t position) {
  return unit_at(draw, position) + std::string(kBetween) + unit_at(draw, position + 1);
}

std::string pair_label(const Texts& texts, const std::string& pair) {
  const size_t between = pair.find(kBetween);
  return fmt::format("{}, {}", label(texts, pair.substr(0, between)), label(texts, pair.substr(between + kBetween.size())));
}

double apart(const statistics::Pair& count) { return std::abs(count.reference - count.candidate) / std::sqrt(count.both()); }

// A cell is every pair of its hash. A person is told the one of them that differs most; the test knows nothing of that.
Tally count_pairs(const Draws& draws, const Texts& texts, size_t position, size_t cells) {
  const Tally pairs = count(draws, [=](const Draw& draw) { return pair_at(draw, position); });
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

std::vector<LawTest> law_tests(const Draws& draws, const LawPlace& place) {
  const std::string_view unit = place.unit == Unit::character ? "character" : "token";
  std::vector<LawTest> tests;
  const Texts texts = texts_of(draws);
  const auto positions = static_cast<size_t>(place.positions);
  for (size_t position = 0; position < positions; ++position) {
    tests.push_back(test_of(count_units(draws, texts, position), place, fmt::format("{} {}", unit, position + 1)));
    tests.back().drafted = drafted_at(draws, position, 1);
    if (draws.declared.empty()) continue;
    hold_to_declared(tests.back(),
                     excess_of(draws, [position](const Draw& draw) { return unit_at(draw, position); }, position));
  }
  const double together = static_cast<double>(draws.reference.size() + draws.candidate.size());
  const size_t cells = std::min(statistics::kCellsMax, static_cast<size_t>(together / kDrawsPerPairCell));
  if (cells < kPairCellsMin) return tests;
  for (size_t position = 0; position + 1 < positions; ++position) {
    tests.push_back(test_of(count_pairs(draws, texts, position, cells), place,
                            fmt::format("{}s {} and {}, jointly", unit, position + 1, position + 2)));
    tests.back().drafted = drafted_at(draws, position, 2);
    if (draws.declared.empty()) continue;
    hold_to_declared(tests.back(),
                     excess_of(draws, [position](const Draw& draw) { return pair_at(draw, position); }, position + 1));
  }
  return tests;
}

void correct(LawResult& result) {
  std::vector<double> p_values;
  for (const LawTest& test : result.tests) p_values.push_back(test.test.p_value);
  const std::vector<double> adjusted = statistics::holm(p_values);
  const double each = result.alpha / static_cast<double>(std::max<size_t>(1, result.tests.size()));  // Holm's strictest
  for (size_t i = 0; i < result.tests.size(); ++i) {
    LawTest& test = result.tests[i];
    test.adjusted = adjusted[i];
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

bool LawResult::different() const {
  return std::ranges::any_of(tests, [this](const LawTest& test) { return test.adjusted <= alpha; });
}

const LawTest* LawResult::worst() const {
  const auto at = std::ranges::min_element(tests, {}, [](const LawTest& test) { return test.test.p_value; });
  return at == tests.end() ? nullptr : &*at;
}

double LawResult::declared() const {
  double most = 0;
  for (const LawTest& test : tests)
    if (test.excess) most = std::max(most, test.excess->declared);
  return most;
}

double LawResult::shift_found() const {
  double most = 0;
  for (const LawTest& test : tests)
    if (test.test.degrees > 0) most = std::max(most, test.shift_found);
  return most;
}

double LawResult::draws_needed() const {
  double most = 0;
  for (const LawTest& test : tests) most = std::max(most, test.draws_needed);
  return most;
}

}  // namespace slipstream::command::verify
