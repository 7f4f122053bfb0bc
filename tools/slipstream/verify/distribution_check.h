// The second part's judgement: are the answers of both sides draws of one distribution? For each
// position a test of its own distribution, whatever stood before, and for each two neighbours one
// of their joint distribution; all of them corrected together (statistics/holm.h). Pure.
//
// A candidate that declares how far it strays is held to that instead: each test is whether the two
// lie further apart than the mean of what its answers declare (statistics/excess.h). What an answer
// declares is the sum over its tokens of the total variation between the distribution that each
// came from and the target's own, given what stood before; by the triangle inequality the mean of
// the sum up to a token bounds the total variation of the distribution of answers up to there, and
// so of any part of them. Where the candidate tells the sum token by token, each test has its own
// bound; else all have the one of whole answers.
//
// Each test pools rare cells blind to sides (statistics/two_samples.h). Pairs are hashed into as
// many cells as the number of draws fills, so that a vocabulary's square does not end as one cell
// of rarities.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/slipstream/verify/samples.h"
#include "tools/statistics/excess.h"
#include "tools/statistics/two_samples.h"

namespace slipstream::command::verify {

inline constexpr double kPower = 0.99;       // of the statements about what is found
inline constexpr double kSmallShift = 0.01;  // total variation, of which they speak

struct Share {
  std::string label;  // "17 \"the\"", "(end)", "12 rare ones"; of pairs "17 \"the\", 8 \" end\" and 3 other pairs"
  statistics::Pair count;
  bool rare = false;  // several tokens pooled, each too rare alone
};

struct DistributionTest {
  size_t prompt = 0;  // index
  float temperature = 1;
  std::string place;                         // "token 1", "tokens 1 and 2"
  std::vector<Share> shares;                 // [cells]
  statistics::ChiSquare test;                // or, of one that declares, z and one less than the cells
  std::optional<statistics::Excess> excess;  // of one that declares
  std::optional<double> drafted;             // share of the candidate's answers that had a draft there; none: not told
  double processed = 1;                      // p-value, for all tests of the run
  double shift_found = 1;   // total variation, beyond what is declared, that it finds with kPower, whatever its direction
  double draws_needed = 0;  // a side, to find kSmallShift so
};

struct SamplePlace {
  size_t prompt = 0;
  float temperature = 1;
  Unit unit = Unit::token_id;
  int positions = 1;
};

// One test for each position, then one for each two neighbours if the draws fill at least four
// cells. An answer that ended early has "(end)" at the positions it does not reach.
std::vector<DistributionTest> distribution_tests(const Samples& samples, const SamplePlace& place);

struct DistributionResult {
  std::vector<DistributionTest> tests;
  double alpha = 0;    // chance of even one false alarm
  size_t samples = 0;  // a side, for each prompt and temperature
  Unit unit = Unit::token_id;
  DraftUse drafting;
  bool declares = false;  // the candidate tells how far it strays

  bool different() const;
  const DistributionTest* worst() const;  // the smallest p-value; null: no test
  double declared() const;                // of one that declares: the largest mean of a prompt and temperature
  double shift_found() const;             // the largest of the tests
  double draws_needed() const;            // likewise
};

// Fills in what depends on how many tests there are.
void correct(DistributionResult& result);

}  // namespace slipstream::command::verify
