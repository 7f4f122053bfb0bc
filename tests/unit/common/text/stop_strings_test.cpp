#include "common/text/stop_strings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace slipstream {
namespace {

TEST(StopStrings, LetsTextThroughAtOnceWhenNoStopStringCouldBegin) {
  StopStrings stops({"END"});
  EXPECT_EQ(stops.push("hello ").text, "hello ");
  EXPECT_EQ(stops.push("world").text, "world");
  EXPECT_EQ(stops.flush(), "");
}

TEST(StopStrings, FindsAStopStringAcrossPieces) {
  StopStrings stops({"END"});
  EXPECT_EQ(stops.push("go E").text, "go ");
  EXPECT_EQ(stops.push("N").text, "");
  const auto piece = stops.push("D on");
  EXPECT_EQ(piece.text, "");
  EXPECT_TRUE(piece.stopped);
  EXPECT_EQ(piece.stop, "END");
}

TEST(StopStrings, ReleasesWhatWasHeldWhenTheStopStringDoesNotCome) {
  StopStrings stops({"END"});
  EXPECT_EQ(stops.push("EN").text, "");
  EXPECT_EQ(stops.push("NE").text, "ENN");
  EXPECT_EQ(stops.flush(), "E");
}

TEST(StopStrings, CutsAtTheOneThatIsCompleteFirstWhateverTheirOrder) {
  for (auto order : {std::vector<std::string>{"abcd", "bc"}, std::vector<std::string>{"bc", "abcd"}}) {
    StopStrings stops(order);
    const auto piece = stops.push("xabcd");
    EXPECT_EQ(piece.text, "xa");
    EXPECT_TRUE(piece.stopped);
  }
}

TEST(StopStrings, CutsAtTheLongerOfTwoThatEndTogether) {
  StopStrings stops({"c", "abc"});
  const auto piece = stops.push("xabc");
  EXPECT_EQ(piece.text, "x");
  EXPECT_EQ(piece.stop, "abc");
}

TEST(StopStrings, FindsAStopStringThatBeginsInsideAFailedOne) {
  StopStrings stops({"aab"});
  EXPECT_EQ(stops.push("aa").text, "");
  EXPECT_EQ(stops.push("a").text, "a");
  EXPECT_TRUE(stops.push("b").stopped);
}

TEST(StopStrings, IgnoresEmptyStopStringsAndWorksWithNone) {
  StopStrings stops({""});
  const auto piece = stops.push("text");
  EXPECT_EQ(piece.text, "text");
  EXPECT_FALSE(piece.stopped);
}

TEST(StopStrings, ShowTheOneThatOccursIfAsked) {
  StopStrings stops({"END"}, true);
  EXPECT_EQ(stops.push("go E").text, "go ");
  const auto piece = stops.push("ND on");
  EXPECT_EQ(piece.text, "END");
  EXPECT_TRUE(piece.stopped);
}

TEST(StopStrings, GivesNothingAfterAStop) {
  StopStrings stops({"x"});
  EXPECT_TRUE(stops.push("x").stopped);
  EXPECT_EQ(stops.push("more").text, "");
  EXPECT_TRUE(stops.push("more").stopped);
  EXPECT_EQ(stops.flush(), "");
}

// The definition: the shortest beginning of the text that ends with a stop string, without the
// longest such.
std::string cut(const std::string& text, const std::vector<std::string>& stops) {
  for (size_t end = 1; end <= text.size(); ++end) {
    const std::string begun = text.substr(0, end);
    size_t longest = 0;
    for (const auto& stop : stops) longest = std::max(longest, begun.ends_with(stop) ? stop.size() : 0);
    if (longest > 0) return begun.substr(0, end - longest);
  }
  return text;
}

TEST(StopStrings, EqualsTheDefinitionForRandomTextsAndStops) {
  std::mt19937 random(17);
  const auto word = [&](size_t longest) {
    std::string letters(1 + random() % longest, 'a');
    for (char& c : letters) c = static_cast<char>('a' + random() % 2);
    return letters;
  };
  for (int i = 0; i < 5000; ++i) {
    const std::vector<std::string> stops = {word(5), word(8)};
    StopStrings streaming(stops);
    std::string all, shown;
    bool stopped = false;
    for (int n = 0; n < 6; ++n) {
      const std::string part = word(4);
      all += part;
      const auto piece = streaming.push(part);
      shown += piece.text;
      stopped = piece.stopped;
    }
    shown += streaming.flush();
    EXPECT_EQ(shown, cut(all, stops));
    EXPECT_EQ(stopped, shown.size() < all.size());
  }
}

}  // namespace
}  // namespace slipstream
