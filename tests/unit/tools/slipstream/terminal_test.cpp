#include "tools/slipstream/terminal.h"

#include <regex>
#include <sstream>

#include <gtest/gtest.h>

namespace slipstream::command {
namespace {

Answer answer(std::vector<int32_t> ids) {
  Answer answer;
  answer.ids = std::move(ids);
  return answer;
}

TEST(Harmless, WordsOfAServerMoveNoCursorAndChangeNoColours) {
  EXPECT_EQ(harmless("a\x1b[2J\x1b]0;title\x07 b\r\b\x7f c"), "a[2J]0;title b c");
  EXPECT_EQ(harmless("C1: \xc2\x9b 31m"), "C1:  31m");
  EXPECT_EQ(harmless("lines\nand\ttabs, caf\xc3\xa9, \xc2\xa0, \xe6\xbc\xa2"),
            "lines\nand\ttabs, caf\xc3\xa9, \xc2\xa0, \xe6\xbc\xa2");
  EXPECT_EQ(harmless("ends in half \xc2"), "ends in half \xc2");
}

// Lines without their colours.
std::vector<std::string> legend_lines(int columns) {
  const std::string legend = std::regex_replace(Palette(true).legend(columns), std::regex("\x1b\\[[0-9;]*m"), "");
  std::vector<std::string> lines;
  std::istringstream in(legend);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(Legend, BreaksNoWordAtTheEdgeOfTheWindow) {
  EXPECT_EQ(legend_lines(100).size(), 1u);
  EXPECT_EQ(legend_lines(80).size(), 2u);
  for (int columns = 32; columns < 120; ++columns) {
    for (const std::string& line : legend_lines(columns)) EXPECT_LT(line.size(), static_cast<size_t>(columns)) << line;
  }
  EXPECT_EQ(legend_lines(40), (std::vector<std::string>{"green: guessed, then confirmed", "plain: the target's own"}));
  EXPECT_EQ(Palette(false).legend(80), "");
}

TEST(Figures, SayHowFastAnAnswerWasAndWhoGuessed) {
  Answer told = answer({1, 2, 3, 4});
  told.drafted = {0, 1, 1, 0};
  told.decode_s = 2;
  told.decoded = 12;
  told.acceptance_length = 2;
  told.finish = "stop";
  told.rule = "coupled";
  EXPECT_EQ(figures(told), "4 tokens, 6.0 tokens/s, 2.00 tokens a step, 50 % drafted, rule coupled");
}

TEST(Figures, LeaveOutWhatTheServerDoesNotSay) { EXPECT_EQ(figures(answer({1})), "1 token"); }

TEST(Figures, TellNoSpeedOfAFewTokens) {
  Answer short_one = answer({1, 2, 3});
  short_one.decoded = 2;
  short_one.decode_s = 0.0001;
  EXPECT_EQ(figures(short_one), "3 tokens");
}

TEST(Comparison, SaysYesOnlyIfEveryTokenIsTheSame) {
  const std::vector<Comparison> same{{"a", answer({1, 2, 3}), answer({1, 2, 3})}};
  EXPECT_TRUE(same_words(same));
  EXPECT_EQ(verdict(same), "same words: yes, 3 of 3 tokens");
}

TEST(Comparison, CountsTheRestOfALongerAnswerAsDifferent) {
  const std::vector<Comparison> longer{{"a", answer({1, 2}), answer({1, 2, 3})}, {"b", answer({7}), answer({7})}};
  EXPECT_FALSE(same_words(longer));
  EXPECT_EQ(verdict(longer), "same words: no, 3 of 4 tokens");
}

TEST(Comparison, CountsTheWordsOfAnAnswerWhoseDrafterDied) {
  const std::vector<Comparison> differs{{"a", answer({1, 2}), answer({1, 2}), answer({1, 3})}};
  EXPECT_EQ(verdict(differs), "same words: no, 3 of 4 tokens");
}

TEST(Comparison, DoesNotTakeNothingForTheSame) { EXPECT_FALSE(same_words({})); }

TEST(Comparison, AlignsItsTable) {
  Answer fast = answer(std::vector<int32_t>(60, 1));
  fast.decoded = 30;
  fast.decode_s = 0.25;
  fast.acceptance_length = 2;
  Answer slow = fast;
  slow.decode_s = 0.5;
  const std::vector<Comparison> one{{"edit a text", fast, slow}};
  const std::string text = table(one);
  EXPECT_NE(text.find("120.0"), std::string::npos) << text;
  EXPECT_NE(text.find("2.00"), std::string::npos) << text;
}

TEST(Comparison, GivesNoRatioForAShortAnswer) {
  const std::vector<Comparison> one{{"a word", answer({1, 2}), answer({1, 2})}};
  EXPECT_NE(table(one).find("too short to tell a ratio"), std::string::npos) << table(one);
}

TEST(Comparison, GivesNoRatioWhereNothingWasGuessed) {
  Answer plain = answer(std::vector<int32_t>(60, 1));
  plain.decoded = 59;
  plain.decode_s = 0.59;
  Answer drafted = plain;
  drafted.decode_s = 0.50;
  const std::vector<Comparison> one{{"tell a story", drafted, plain}};
  EXPECT_EQ(table(one).find("1.18"), std::string::npos) << table(one);
  EXPECT_NE(table(one).find("no guess was accepted"), std::string::npos) << table(one);
}

}  // namespace
}  // namespace slipstream::command
