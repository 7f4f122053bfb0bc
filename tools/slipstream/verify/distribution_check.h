// The tests of the second part of verify-lossless: were the answers of both servers sampled from
// one distribution? There is one test for the distribution of the token at each position, whatever
// preceded it, and one for the joint distribution of each two neighbouring positions. All p-values
// are corrected together (statistics/holm.h). Pure.
//
// A candidate that declares a bias is held to it instead: each test asks whether the two
// distributions lie further apart than the mean of what the candidate's answers declare
// (statistics/excess.h). An answer declares the sum, over its tokens, of the total variation
// between the distribution that the token was sampled from and the target's own, given the tokens
// before it. By the triangle inequality, the mean of that sum up to a token bounds the total
// variation of the distribution of answers up to that token, and so of any part of them. If the
// candidate sends the sum for each token, each test has its own bound; otherwise all tests use the
// bound of whole answers.
//
// Each test pools rare cells without looking at the side that they come from
// (statistics/two_samples.h). Pairs are hashed into as many cells as the number of samples can
// fill; otherwise almost all of the vocabulary's square would end in one cell of rare pairs.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/slipstream/verify/samples.h"
#include "tools/statistics/excess.h"
#include "tools/statistics/two_samples.h"

namespace slipstream::command::verify {

inline constexpr double kPower = 0.99;       // power of the statements about what the tests find
inline constexpr double kSmallShift = 0.01;  // total variation for which the report states the needed samples

struct Share {
  std::string label;  // "17 \"the\"", "(end)", "12 rare ones"; for pairs "17 \"the\", 8 \" end\" and 3 other pairs"
  statistics::Pair count;
  bool rare = false;  // several tokens, each too rare for a cell of its own
};

struct DistributionTest {
  size_t prompt = 0;  // index
  float temperature = 1;
  std::string place;                         // "token 1", "tokens 1 and 2"
  std::vector<Share> shares;                 // [cells]
  statistics::ChiSquare test;                // of a candidate that declares a bias: z, and cells - 1
  std::optional<statistics::Excess> excess;  // only of a candidate that declares a bias
  std::optional<double> drafted;             // share of the candidate's answers with a draft there; none: unknown
  double adjusted_p = 1;                     // p-value, corrected for all tests of the run
  // The smallest total variation, beyond what is declared, that the test finds with kPower, in
  // whatever direction.
  double shift_found = 1;
  double draws_needed = 0;  // samples of each server to find kSmallShift with kPower
};

struct SamplePlace {
  size_t prompt = 0;
  float temperature = 1;
  Unit unit = Unit::token_id;
  int positions = 1;
};

// Makes one test for each position, then one for each two neighbouring positions if the samples
// fill at least four cells. An answer that ended early has "(end)" at the positions that it does
// not reach.
std::vector<DistributionTest> distribution_tests(const Samples& samples, const SamplePlace& place);

struct DistributionResult {
  std::vector<DistributionTest> tests;
  double alpha = 0;    // chance of even one false alarm in all tests
  size_t samples = 0;  // of each server, for each prompt and temperature
  Unit unit = Unit::token_id;
  DraftUse drafting;
  bool declares = false;  // the candidate declares a bias

  bool different() const;
  const DistributionTest* worst() const;  // the smallest p-value; null: no test
  double declared() const;                // the largest mean declared for a prompt and temperature
  double shift_found() const;             // the largest of the tests
  double draws_needed() const;            // the largest of the tests
};

// Fills in the fields that depend on the number of tests.
void correct(DistributionResult& result);

}  // namespace slipstream::command::verify
