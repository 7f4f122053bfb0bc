// The whole report, small, with a fixed seed: its figures have what they promise, and each
// simulation agrees with its formula.
#include "research/theory/report.h"

#include <gmock/gmock.h>

#include <sstream>

#include "research/theory/sections.h"

namespace slipstream::theory {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr int kRuns = 100;         // for the page
constexpr int kRunsToAgree = 400;  // a mean of section 4 takes a tenth
constexpr uint64_t kSeed = 3;

Report made_of(int runs) {
  Study study(runs, kSeed, [](const std::string&) {});
  return full_report(study);
}
const Report& report() {
  static const Report made = made_of(kRuns);
  return made;
}

size_t count(const std::string& text, const std::string& word) {
  size_t times = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++times;
  return times;
}

TEST(Report, AgreesWithTheTheory) {
  const Report large = made_of(kRunsToAgree);
  const Agreement all = agreement(large.comparisons());
  EXPECT_TRUE(large.holds()) << summary(large);
  EXPECT_GT(all.comparisons, 250u);
  EXPECT_LT(static_cast<double>(all.outside), 0.1 * static_cast<double>(all.comparisons));
}

TEST(Report, SimulatesEveryNumberAsOftenAsItSays) {
  for (const Comparison& comparison : report().comparisons()) {
    EXPECT_GE(comparison.simulated.runs, static_cast<uint64_t>(kRuns) / 10) << comparison.what;
    EXPECT_LE(comparison.simulated.runs, static_cast<uint64_t>(kRuns)) << comparison.what;
  }
}

TEST(Report, HasAFigureASourceAndASentenceForEachExhibit) {
  size_t exhibits = 0;
  ASSERT_EQ(report().sections.size(), 4u);
  for (const Section& section : report().sections) {
    for (const Exhibit& exhibit : section.exhibits) {
      ++exhibits;
      EXPECT_FALSE(exhibit.seen.empty()) << exhibit.figure.title;
      EXPECT_THAT(exhibit.source, HasSubstr("2")) << exhibit.figure.title;
      EXPECT_GE(exhibit.figure.series.size(), 2u) << exhibit.figure.title;
      for (const Series& series : exhibit.figure.series) EXPECT_FALSE(series.points.empty()) << exhibit.figure.title;
      for (const Table& table : exhibit.tables) {
        for (const auto& row : table.rows) EXPECT_EQ(row.size(), table.head.size()) << exhibit.figure.title;
      }
    }
  }
  EXPECT_EQ(exhibits, 16u);
}

TEST(Report, IsOnePageThatNeedsNothingElse) {
  const std::string page = html(report());
  EXPECT_EQ(count(page, "<svg"), 16u);
  for (const char* tag : {"svg", "figure", "figcaption", "table", "tr", "details", "p", "h2", "text"}) {
    const std::string name(tag);
    EXPECT_EQ(count(page, "<" + name + ">") + count(page, "<" + name + " "), count(page, "</" + name + ">")) << tag;
  }
  EXPECT_EQ(count(page, "http"), 16u) << "the name of SVG, and no link";
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("nan")));
}

TEST(Report, SumsUpInTablesThatLineUp) {
  std::istringstream lines(summary(report()));
  size_t width = 0, rows = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("|")) {
      width = 0;
      continue;
    }
    size_t characters = 0;
    for (const char byte : line) characters += (byte & 0xC0) != 0x80 ? 1 : 0;
    if (width == 0) width = characters;
    EXPECT_EQ(characters, width) << line;
    ++rows;
  }
  EXPECT_EQ(rows, 4u * 2 + 16);
}

TEST(Report, IsTheSameForTheSameSeed) {
  const auto rejections = [](uint64_t seed) {
    Study study(100, seed, [](const std::string&) {});
    return bias_section(study).exhibits[0].comparisons[0].simulated.mean;
  };
  EXPECT_EQ(rejections(5), rejections(5));
  EXPECT_NE(rejections(5), rejections(6));
}

TEST(Report, SaysWhatIsBrokenAndDoesNotHold) {
  Report broken{.sections = {{.title = "one", .exhibits = {{.figure = {.series = {{.points = {{1, 1}, {2, 2}}}}}}}}}};
  EXPECT_TRUE(broken.holds());
  Exhibit& exhibit = broken.sections[0].exhibits[0];
  exhibit.comparisons = {{"off by a tenth", 1.0, {1.1, 0.01, 100}}};
  EXPECT_FALSE(broken.holds());
  EXPECT_THAT(html(broken), HasSubstr("class=\"outside\""));
  exhibit.comparisons.clear();
  exhibit.broken = {"one rule is below the bound"};
  EXPECT_FALSE(broken.holds());
  EXPECT_THAT(html(broken), HasSubstr("one rule is below the bound"));
  EXPECT_THAT(summary(broken), HasSubstr("BROKEN: one rule"));
}

}  // namespace
}  // namespace slipstream::theory
