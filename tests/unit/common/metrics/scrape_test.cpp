// Pages of other processes become samples, whatever they contain.
#include "common/metrics/scrape.h"

#include <cmath>
#include <limits>
#include <random>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/metrics/exposition.h"

namespace slipstream {
namespace {

using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

std::string refusal(std::string_view text) {
  const auto page = Scrape::parse(text);
  return page ? "none" : page.error().message;
}

TEST(Scrape, ReadsWhatExpositionWrites) {
  Exposition page;
  page.counter(metric::kNodeFrames, 3, {{"direction", "sent"}});
  page.counter(metric::kNodeFrames, 4.5, {{"direction", "received"}});
  page.gauge(metric::kVerifierDrafters, 1, {{"method", "a\\b\"c\nd"}, {"model", ""}});
  Histogram<2> histogram{{1, 2}};
  histogram.observe(1.5);
  page.histogram(metric::kVerifierStepSeconds, histogram);
  const auto read = Scrape::parse(page.text());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->sum(metric::kNodeFrames.name), 7.5);
  EXPECT_EQ(read->sum(metric::kNodeFrames.name, {{"direction", "sent"}}), 3);
  EXPECT_EQ(read->sum(metric::kNodeFrames.name, {{"direction", "lost"}}), 0);
  EXPECT_EQ(read->sum("slipstream_verifier_step_seconds_count"), 1);
  EXPECT_EQ(read->quantile(metric::kVerifierStepSeconds.name, 0.5), 1.5);
  const auto named = std::ranges::find(read->samples(), metric::kVerifierDrafters.name, &Sample::name);
  ASSERT_NE(named, read->samples().end());
  EXPECT_THAT(named->labels, UnorderedElementsAre(Pair("method", "a\\b\"c\nd"), Pair("model", "")));
}

TEST(Scrape, TakesWhatTheFormatAllows) {
  const auto page = Scrape::parse(
      "# HELP a words\n\n  \t\na 1\r\n b{ x = \"1\" , y=\"2\", } +Inf 1700000000000\nc{} -Inf\nd NaN\ne 1e-3\nf:g_9 -0");
  ASSERT_TRUE(page) << page.error().message;
  ASSERT_EQ(page->samples().size(), 6u);
  EXPECT_EQ(page->sum("b", {{"y", "2"}}), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(page->sum("d"))) << "NaN is a value";
  EXPECT_EQ(page->sum("e"), 0.001);
}

TEST(Scrape, RefusesWhatIsNoPage) {
  EXPECT_THAT(refusal("<html>no</html>"), HasSubstr("line 1 is no sample"));
  EXPECT_THAT(refusal("a 1\nb one\n"), HasSubstr("line 2 is no sample: its value is no number"));
  EXPECT_THAT(refusal("a 1 2 3"), HasSubstr("something follows"));
  EXPECT_THAT(refusal("a{x=1} 1"), HasSubstr("quotes"));
  EXPECT_THAT(refusal("a{x=\"1} 1"), HasSubstr("quotes"));
  EXPECT_THAT(refusal("a{x=\"\\q\"} 1"), HasSubstr("quotes"));
  EXPECT_THAT(refusal("a{x=\"1\" 1"), HasSubstr("do not end"));
  EXPECT_THAT(refusal("a{x=\"1\",x=\"2\"} 1"), HasSubstr("a label twice"));
  EXPECT_THAT(refusal("a"), HasSubstr("no number"));
  EXPECT_THAT(refusal("a 1e999"), HasSubstr("no number"));
}

TEST(Scrape, RefusesASampleThatComesTwice) {
  EXPECT_THAT(refusal("a{x=\"1\"} 1\na{x=\"2\"} 1\na{x=\"1\"} 2\n"), HasSubstr("a sample of a comes twice"));
}

TEST(Scrape, IsBounded) {
  EXPECT_THAT(refusal(std::string(kScrapeBytesMax + 1, '\n')), HasSubstr("too long"));
  EXPECT_THAT(refusal("a{x=\"" + std::string(kScrapeLineBytesMax, 'x') + "\"} 1"), HasSubstr("more than 8192 bytes"));
  std::string samples, labels = "a{";
  for (size_t i = 0; i <= kScrapeSamplesMax; ++i) samples += fmt::format("a{} 1\n", i);
  EXPECT_THAT(refusal(samples), HasSubstr("more than 20000 samples"));
  for (size_t i = 0; i <= kScrapeLabelsMax; ++i) labels += fmt::format("x{}=\"1\",", i);
  EXPECT_THAT(refusal(labels + "} 1"), HasSubstr("too many labels"));
}

// Neither noise nor a page with noise in it makes it crash or loop.
TEST(Scrape, SurvivesNonsense) {
  std::mt19937 random(1);
  const std::string good = "a{x=\"1\",y=\"\\\"\"} 1 2\n# c\nb 2\n";
  for (int round = 0; round < 20'000; ++round) {
    std::string page = good;
    for (int changes = 1 + static_cast<int>(random() % 4); changes > 0; --changes) {
      page[random() % page.size()] = round % 2 == 0 ? static_cast<char>(random()) : "{}\"\\=,# \n01aN+"[random() % 15];
    }
    const auto read = Scrape::parse(page);
    EXPECT_TRUE(!read || read->samples().size() <= page.size());
  }
}

}  // namespace
}  // namespace slipstream
