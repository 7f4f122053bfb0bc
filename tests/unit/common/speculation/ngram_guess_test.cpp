#include "common/speculation/ngram_guess.h"

#include <algorithm>
#include <map>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipstream {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

std::vector<Ranked> guesses_of(const NgramCounts& text, std::span<const TokenId> path = {}) {
  return guess(text.context(path), {.texts = {&text}, .corpora = {}});
}

NgramCounts counts_of(const std::vector<TokenId>& tokens) {
  NgramCounts counts;
  counts.append(tokens);
  return counts;
}

// The formula of the header, by a search of the whole text.
std::map<TokenId, double> searched(const std::vector<TokenId>& text, std::vector<TokenId> context) {
  std::map<TokenId, double> chances;
  for (size_t n = 1; n <= static_cast<size_t>(kNgramMax) && n <= context.size(); ++n) {
    const std::vector<TokenId> gram(context.end() - static_cast<ptrdiff_t>(n), context.end());
    std::map<TokenId, double> counted;
    double total = 0;
    for (size_t behind = text.size() - 1; behind >= n && total < kOccurrencesMax; --behind) {
      if (!std::equal(gram.begin(), gram.end(), text.begin() + static_cast<ptrdiff_t>(behind - n))) continue;
      ++counted[text[behind]];
      ++total;
    }
    if (total == 0) break;
    for (auto& [token, chance] : chances) chance *= kNgramPrior / (total + kNgramPrior);
    for (const auto& [token, count] : counted) chances[token] += count / (total + kNgramPrior);
  }
  return chances;
}

TEST(NgramGuess, GuessesNothingInAShortOrFreshText) {
  EXPECT_THAT(guesses_of(NgramCounts()), IsEmpty());
  EXPECT_THAT(guesses_of(counts_of({1})), IsEmpty());
  EXPECT_THAT(guesses_of(counts_of({1, 2, 3, 4, 5})), IsEmpty());
}

TEST(NgramGuess, GuessesWhatFollowed) {
  const auto guesses = guesses_of(counts_of({1, 2, 3, 9, 2}));
  ASSERT_THAT(guesses, SizeIs(1));
  EXPECT_EQ(guesses[0].token, 3);
  EXPECT_FLOAT_EQ(guesses[0].confidence, 1 / (1 + kNgramPrior));
}

TEST(NgramGuess, IsSurerOfALongerMatchAndOfMatchesThatAgree) {
  const float once = guesses_of(counts_of({1, 2, 3, 9, 2}))[0].confidence;
  const float longer = guesses_of(counts_of({1, 2, 3, 9, 1, 2}))[0].confidence;
  const float twice = guesses_of(counts_of({1, 2, 3, 9, 2, 3, 8, 2}))[0].confidence;
  EXPECT_LT(once, longer);
  EXPECT_LT(once, twice);
  const auto divided = guesses_of(counts_of({1, 2, 3, 9, 2, 4, 8, 2}));
  ASSERT_THAT(divided, SizeIs(2));
  EXPECT_FLOAT_EQ(divided[0].confidence, divided[1].confidence);
  EXPECT_LT(divided[0].confidence, once);
  EXPECT_EQ(divided[0].token, 4) << "of equals, the newest";
}

TEST(NgramGuess, GoesOnBehindAPath) {
  const NgramCounts counts = counts_of({1, 2, 3, 4, 5, 9, 1, 2});
  EXPECT_EQ(guesses_of(counts, std::vector<TokenId>{3})[0].token, 4);
  EXPECT_EQ(guesses_of(counts, std::vector<TokenId>{3, 4})[0].token, 5);
  EXPECT_THAT(guesses_of(counts, std::vector<TokenId>{3, 77}), IsEmpty());
}

TEST(NgramGuess, GoesRoundARepetition) {
  const NgramCounts counts = counts_of({1, 2, 1, 2, 1, 2});
  std::vector<TokenId> path;
  for (const TokenId next : {1, 2, 1, 2, 1, 2, 1, 2, 1}) {
    ASSERT_EQ(guesses_of(counts, path)[0].token, next);
    path.push_back(next);
  }
}

// The claim of the header by brute force, token by token, in chunks of any size.
TEST(NgramGuess, EqualsASearchOfTheWholeText) {
  std::mt19937_64 dice(6);
  for (int round = 0; round < 40; ++round) {
    NgramCounts counts;
    std::vector<TokenId> text;
    const uint64_t vocabulary = 2 + dice() % 12;
    while (text.size() < 120) {  // no list is longer than what is looked at
      std::vector<TokenId> chunk(dice() % 4);
      for (TokenId& token : chunk) token = static_cast<TokenId>(dice() % vocabulary);
      counts.append(chunk);
      text.insert(text.end(), chunk.begin(), chunk.end());
      std::vector<TokenId> path(dice() % 8);
      for (TokenId& token : path) token = static_cast<TokenId>(dice() % vocabulary);
      std::vector<TokenId> context = text;
      context.insert(context.end(), path.begin(), path.end());

      const auto guesses = guesses_of(counts, path);
      auto expected = text.empty() ? std::map<TokenId, double>{} : searched(text, context);
      ASSERT_EQ(guesses.size(), std::min<size_t>(expected.size(), kGuessesMax));
      for (const Ranked& guess : guesses) {
        ASSERT_NEAR(guess.confidence, expected[guess.token], 1e-5);
        expected.erase(guess.token);
      }
      for (const auto& [token, chance] : expected) ASSERT_LE(chance, guesses.back().confidence + 1e-5);
    }
  }
}

// A ring of 256 tokens guesses as the newest 256 tokens of the text do.
TEST(NgramGuess, ForgetsTheOldestBeyondItsLimit) {
  std::mt19937_64 dice(7);
  NgramCounts ring(256);
  std::vector<TokenId> text;
  for (int token = 0; token < 3000; ++token) {
    text.push_back(static_cast<TokenId>(dice() % 5));
    ring.append(std::span(text).last(1));
    const size_t held = std::min<size_t>(text.size(), 256);
    if (token % 7 != 0) continue;
    NgramCounts newest;
    newest.append(std::span(text).last(held));
    ASSERT_EQ(guesses_of(ring), guesses_of(newest)) << token;
  }
}

TEST(NgramGuess, CountsSeveralTextsTogether) {
  const NgramCounts own = counts_of({7, 2, 4, 9, 2}), other = counts_of({1, 2, 3, 8, 2, 3, 5});
  const auto guesses = guess(own.context(), {.texts = {&own, &other}, .corpora = {}});
  ASSERT_THAT(guesses, SizeIs(2));
  EXPECT_EQ(guesses[0].token, 3) << "twice in the other text";
  EXPECT_FLOAT_EQ(guesses[0].confidence, 2 / (3 + kNgramPrior));
  EXPECT_FLOAT_EQ(guesses[1].confidence, 1 / (3 + kNgramPrior));
}

TEST(NgramGuess, NeverGuessesTheEndOfAText) {
  const NgramCounts other = counts_of({1, 2, 3, kTextEnd, 1, 2, kTextEnd, 5, 2, 3});
  const NgramCounts own = counts_of({9, 2});
  const auto guesses = guess(own.context(), {.texts = {&own, &other}, .corpora = {}});
  ASSERT_THAT(guesses, SizeIs(1));
  EXPECT_EQ(guesses[0].token, 3);
  EXPECT_FLOAT_EQ(guesses[0].confidence, 2 / (3 + kNgramPrior)) << "an end counts as something else that followed";
}

// A text as a corpus.
struct CorpusOf {
  explicit CorpusOf(std::vector<TokenId> text) : tokens(std::move(text)), order(SortedText::sort(tokens)) {}
  std::vector<SortedText> list() const { return {SortedText(tokens, order)}; }
  std::vector<TokenId> tokens;
  std::vector<uint32_t> order;
};

TEST(NgramGuess, ACorpusCountsAsATextDoesWhereThereIsNoOther) {
  const CorpusOf corpus({1, 2, 3, 8, 2, 3, 5, 1, 2, 4});
  const auto corpora = corpus.list();
  const NgramCounts text = counts_of(corpus.tokens), own = counts_of({1, 2});
  const auto of_corpus = guess(own.context(), {.texts = {}, .corpora = corpora});
  const auto of_text = guess(own.context(), {.texts = {&text}, .corpora = {}});
  ASSERT_EQ(of_corpus.size(), of_text.size());
  for (size_t i = 0; i < of_text.size(); ++i) {
    EXPECT_EQ(of_corpus[i].token, of_text[i].token);
    EXPECT_NEAR(of_corpus[i].confidence, of_text[i].confidence, 1e-6);
  }
}

TEST(NgramGuess, TheRequestsOwnTextCountsForMoreThanACorpus) {
  const CorpusOf corpus({2, 3, 2, 3, 2, 3, 2, 3, 2, 3});
  const auto corpora = corpus.list();
  const NgramCounts own = counts_of({2, 4, 2, 4, 2});
  const auto guesses = guess(own.context(), {.texts = {&own}, .corpora = corpora});
  ASSERT_THAT(guesses, SizeIs(2));
  EXPECT_EQ(guesses[0].token, 4) << "twice in the own text, five times in the corpus the other";
  EXPECT_LT(guesses[0].confidence + guesses[1].confidence, 1);
}

TEST(NgramGuess, ACorpusSpeaksWhereTheOwnTextIsSilent) {
  const CorpusOf corpus({9, 1, 2, 3});
  const auto corpora = corpus.list();
  const NgramCounts own = counts_of({9, 1, 2});
  const auto guesses = guess(own.context(), {.texts = {&own}, .corpora = corpora});
  ASSERT_THAT(guesses, SizeIs(1));
  EXPECT_EQ(guesses[0].token, 3);
}

}  // namespace
}  // namespace slipstream
