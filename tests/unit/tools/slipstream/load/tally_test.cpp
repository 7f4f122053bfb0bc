#include "tools/slipstream/load/tally.h"

#include <gtest/gtest.h>

namespace slipstream::command::load {
namespace {

using std::chrono::milliseconds;

// A whole answer: scheduled at 100 ms, sent at once, with chunks of so many tokens at these times.
Sample answer(std::vector<std::pair<int, int>> chunks, int ended_ms) {
  Sample sample;
  sample.ending = Ending::complete;
  sample.scheduled = sample.sent = milliseconds(100);
  for (const auto& [at_ms, tokens] : chunks) sample.chunks.push_back({milliseconds(at_ms), tokens});
  sample.chunk_tokens_known = true;
  sample.ended = milliseconds(ended_ms);
  return sample;
}

Sample refused(Ending ending, bool retry_after) {
  Sample sample;
  sample.ending = ending;
  sample.retry_after = retry_after;
  sample.problem = "256 requests wait already";
  return sample;
}

TEST(Tally, MeasuresAnAnswerByItsChunks) {
  Tally tally;
  tally.add(answer({{150, 1}, {170, 1}, {200, 3}}, 210));
  const Measures& found = tally.measures();
  EXPECT_EQ(found.ttft.mean(), milliseconds(50));
  EXPECT_EQ(found.e2e.mean(), milliseconds(110));
  EXPECT_EQ(found.tpot.mean(), Duration(milliseconds(50)) / 4) << "five tokens have four gaps between them";
  EXPECT_EQ(found.itl_by_chunk.count(), 2u);
  EXPECT_EQ(found.itl_by_chunk.greatest(), milliseconds(30));
  EXPECT_EQ(found.itl_by_token.count(), 4u);
  EXPECT_EQ(found.itl_by_token.least(), milliseconds(10)) << "a chunk of three tokens after 30 ms";
  EXPECT_EQ(tally.tokens_out(), 5u);
}

// Coordinated omission: a request that could not be sent in time has waited for its user.
TEST(Tally, CountsFromTheScheduledTimeAndNotFromTheSending) {
  Tally tally;
  Sample late = answer({{900, 1}}, 900);
  late.sent = milliseconds(880);
  tally.add(late);
  EXPECT_EQ(tally.measures().ttft.mean(), milliseconds(800));
  EXPECT_EQ(tally.measures().ttft_from_sending.mean(), milliseconds(20));
  EXPECT_EQ(tally.late(), 1u);
  EXPECT_EQ(tally.lateness().greatest(), milliseconds(780));
}

TEST(Tally, BelievesTheServersCountOfTokensAndCountsChunksWithoutIt) {
  Tally tally;
  Sample told = answer({{150, 1}, {160, 1}}, 160), untold = told;
  told.tokens_in = 30;
  told.tokens_out = 7;
  tally.add(told);
  tally.add(untold);
  EXPECT_EQ(tally.tokens_in(), 30u);
  EXPECT_EQ(tally.tokens_out(), 7u + 2u);
  EXPECT_EQ(tally.without_usage(), 1u);
}

TEST(Tally, DoesNotSayHowLongATokenTookWhereNobodyKnowsTheTokensOfAChunk) {
  Tally tally;
  Sample sample = answer({{150, 1}, {160, 1}}, 160);
  sample.chunk_tokens_known = false;
  tally.add(sample);
  EXPECT_TRUE(tally.measures().itl_by_token.empty());
  EXPECT_EQ(tally.measures().itl_by_chunk.count(), 1u);
}

TEST(Tally, TakesAChunkOfTextThatBringsNoToken) {
  Tally tally;
  tally.add(answer({{150, 2}, {160, 0}}, 160));  // text that was held back, released by the end
  EXPECT_EQ(tally.measures().itl_by_token.count(), 0u);
  EXPECT_EQ(tally.tokens_out(), 2u);
}

TEST(Tally, CountsEachRequestUnderOneEnding) {
  Tally tally;
  tally.add(answer({{150, 1}}, 150));
  tally.add(refused(Ending::refused_429, true));
  tally.add(refused(Ending::refused_503, false));
  tally.add(refused(Ending::no_connection, false));
  EXPECT_EQ(tally.requests(), 4u);
  EXPECT_EQ(tally.complete(), 1u);
  EXPECT_EQ(tally.ended(Ending::refused_429), 1u);
  EXPECT_EQ(tally.ended(Ending::refused_503), 1u);
  EXPECT_EQ(tally.refusals_without_retry_after(), 1u) << "a connection that broke is no refusal";
  EXPECT_EQ(tally.problems().at("256 requests wait already"), 3u);
}

TEST(Tally, CountsTheTokensOfAnswersCutShortApart) {
  Tally tally;
  tally.add(answer({{150, 1}, {170, 2}}, 180));
  Sample part = answer({{150, 1}, {170, 3}}, 200);
  part.ending = Ending::broke_off;
  tally.add(part);
  EXPECT_EQ(tally.tokens_out(), 3u);
  EXPECT_EQ(tally.tokens_out_of_parts(), 4u);
}

TEST(Tally, KeepsAFewProblemsHoweverManyThereAre) {
  Tally tally;
  for (int i = 0; i < 1000; ++i) {
    Sample sample = refused(Ending::other_status, false);
    sample.problem = std::string(i + 1, 'x');
    tally.add(sample);
  }
  EXPECT_EQ(tally.problems().size(), kProblemsMax);
  EXPECT_EQ(tally.requests(), 1000u);
}

TEST(Tally, CountsAsOneProblemWhatDiffersInFiguresAlone) {
  Tally tally;
  for (const char* wait : {"5.0 s", "5.3 s", "12 s"}) {
    Sample sample = refused(Ending::refused_429, true);
    sample.problem = std::string("it would wait for about ") + wait;
    tally.add(sample);
  }
  EXPECT_EQ(tally.problems().size(), 1u);
  EXPECT_EQ(tally.problems().at("it would wait for about 5.0 s"), 3u);
}

TEST(Goodput, CountsAnswersThatKeepWithinBothLimits) {
  Tally tally({.ttft = milliseconds(50), .tpot = milliseconds(10)});
  tally.add(answer({{150, 1}, {160, 1}}, 160));   // exactly at both
  tally.add(answer({{151, 1}, {161, 1}}, 161));   // begins too late
  tally.add(answer({{110, 1}, {121, 1}}, 121));   // too slow
  tally.add(answer({{110, 1}}, 200));             // one token: nothing lies between
  tally.add(refused(Ending::refused_429, true));  // no answer
  EXPECT_EQ(tally.good(), 2u);
}

TEST(Goodput, IsOverTheTimeThatTheRunTook) {
  Tally tally;
  tally.add(answer({{150, 4}}, 200));
  EXPECT_EQ(tally.per_s(tally.tokens_out()), 0) << "nobody has said how long it took";
  tally.ran_for(milliseconds(500));
  tally.ran_for(milliseconds(1500));  // two windows
  EXPECT_DOUBLE_EQ(tally.per_s(tally.tokens_out()), 2);
}

}  // namespace
}  // namespace slipstream::command::load
