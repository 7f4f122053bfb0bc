// The part of PromQL that the chart's scaling queries use, so that the simulator computes with the
// queries themselves. deploy/tests/check.py asks promtool the cases of scaling_cases.json, and
// promql_test.cpp asks this the same ones.
//
//   const Query query = Query::parse("sum(rate(tokens_total[2m])) > bool 0").value();
//   const std::vector<Instant> answer = query.at(series, now);
//
// It knows: selectors with = and !=, ranges, sum, min, max, count, avg (by (...) too), rate,
// increase, *_over_time of absent, max, min and avg, floor, ceil, clamp_min, clamp_max, vector,
// label_replace of an empty source, scalar; + - * /, comparisons with and without bool, and, or,
// unless, on(...). All else is an error. A range does not include its beginning, as in
// Prometheus 3; Prometheus 2 includes it.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "tests/sim/day/series.h"

namespace slipstream::sim {

struct Instant {  // one element of an instant vector
  LabelSet labels;
  double value = 0;
  bool operator==(const Instant&) const = default;
};

struct PromNode {
  enum class Kind : uint8_t { number, text, selector, call, aggregation, operation };
  struct Matcher {
    std::string label, value;
    bool equal = true;
  };
  Kind kind = Kind::number;
  double number = 0;
  std::string name;                 // metric, function, aggregation, operator; a text
  std::vector<Matcher> matchers;    // selector
  double range = 0;                 // selector: seconds; 0: instant
  std::vector<PromNode> arguments;  // call, aggregation, operation
  bool boolean = false;             // operation: `bool`
  bool grouped = false;             // aggregation: by (...); operation: on (...)
  std::vector<std::string> group;
};

class Query {
 public:
  static Result<Query> parse(std::string_view text);
  std::vector<Instant> at(const Series& series, double now) const;  // a scalar is one element without labels
  // As KEDA's Prometheus scaler reads it: the one value; 0 for an empty answer. REQUIRES: not
  // several.
  double value(const Series& series, double now) const;
  std::set<std::string, std::less<>> metrics() const;  // that it asks for
  const PromNode& root() const { return root_; }

 private:
  explicit Query(PromNode root) : root_(std::move(root)) {}
  PromNode root_;
};

}  // namespace slipstream::sim
