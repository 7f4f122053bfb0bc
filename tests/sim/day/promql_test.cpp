// The queries of the chart, asked as promtool is asked them in deploy/tests/check.py.
#include <algorithm>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/sim/day/chart.h"

namespace slipstream::sim {
namespace {

constexpr double kEvery = 15;  // seconds between samples

// Gives a series promtool's values: "1 2 stale", "3x10" and "0+60x20", one each 15 s, until `at`.
void fill(Series& series, const std::string& selector, const std::string& values, double at) {
  const Query query = Query::parse(selector).value();
  LabelSet labels;
  for (const auto& matcher : query.root().matchers) labels[matcher.label] = matcher.value;
  double now = 0;
  const auto add = [&](double value) {
    if (now <= at) series.add(now, query.root().name, labels, value);
    now += kEvery;
  };
  std::istringstream words(values);
  for (std::string word; words >> word;) {
    if (word == "stale") {
      if (now <= at) series.gone(labels);
      now += kEvery;
      continue;
    }
    const size_t times = word.find('x'), plus = word.find('+');
    // Not of the whole word: 0x10 would be hexadecimal.
    const double first = std::stod(word.substr(0, std::min(times, plus))),
                 step = plus == std::string::npos ? 0 : std::stod(word.substr(plus + 1));
    const int more = times == std::string::npos ? 0 : std::stoi(word.substr(times + 1));
    for (int i = 0; i <= more; ++i) add(first + i * step);
  }
}

TEST(ScalingQueries, GiveWhatPrometheusGives) {
  std::ifstream file(SLIPSTREAM_SCALING_CASES);
  const auto cases = nlohmann::json::parse(file);
  ASSERT_GE(cases.size(), 14);
  for (const auto& one : cases) {
    const std::string name = one["query"];
    const Query query = chart_query(name, chart_values(name.starts_with("verifiers") ? "verifier" : "drafterDefaults"));
    Series series(query.metrics(), 7200);
    for (const auto& [selector, values] : one["series"].items()) fill(series, selector, values, one["at"]);
    const auto answer = query.at(series, one["at"]);
    if (one["expected"].is_null()) {
      EXPECT_TRUE(answer.empty()) << one["name"];
    } else {
      ASSERT_EQ(answer.size(), 1) << one["name"];
      EXPECT_EQ(answer[0].labels, LabelSet{}) << one["name"];
      EXPECT_DOUBLE_EQ(answer[0].value, one["expected"]) << one["name"];
    }
  }
}

TEST(ScalingQueries, AreRefusedWhereTheyAreNoPromQL) {
  for (const char* text : {"", "sum(", "sum(a) /", "a{b=}", "a[5x]", "a b", "min(a) by (c)"}) {
    EXPECT_FALSE(Query::parse(text).has_value()) << text;
  }
}

TEST(ScalingQueries, ForgetATargetThatEnded) {
  Series series({"live"}, 3600);
  const Query query = Query::parse("sum(live)").value();
  series.scraped(0, {{"instance", "a"}}, Scrape::parse("live 3\n").value());
  series.scraped(0, {{"instance", "b"}}, Scrape::parse("live 4\n").value());
  EXPECT_EQ(query.value(series, 10), 7);
  series.gone({{"instance", "a"}});
  EXPECT_EQ(query.value(series, 10), 4);
  EXPECT_EQ(query.value(series, 10 + kLookBack), 0) << "and one that was not scraped for long";
}

}  // namespace
}  // namespace slipstream::sim
