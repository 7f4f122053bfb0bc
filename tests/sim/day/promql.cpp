#include "tests/sim/day/promql.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "common/base/check.h"

namespace slipstream::sim {
namespace {

using Vector = std::vector<Instant>;

struct Value {
  bool scalar = false;
  Vector vector;  // of a scalar one element without labels
};

Value scalar(double value) { return {.scalar = true, .vector = {{{}, value}}}; }

bool matches(const PromNode& selector, const LabelSet& labels) {
  return std::ranges::all_of(selector.matchers, [&](const PromNode::Matcher& matcher) {
    const auto at = labels.find(matcher.label);
    return ((at == labels.end() ? std::string_view() : std::string_view(at->second)) == matcher.value) == matcher.equal;
  });
}

LabelSet only(const LabelSet& labels, const std::vector<std::string>& group) {
  LabelSet kept;
  for (const std::string& name : group) {
    if (const auto at = labels.find(name); at != labels.end()) kept.insert(*at);
  }
  return kept;
}

// Prometheus' extrapolatedRate (promql/functions.go): the increase between the first and the last
// sample, as far as it would have gone to the ends of the range.
std::optional<double> rise(std::span<const std::pair<double, double>> samples, double from, double to, bool rate) {
  if (samples.size() < 2) return std::nullopt;
  double rose = samples.back().second - samples.front().second;
  for (size_t i = 1; i < samples.size(); ++i) {
    if (samples[i].second < samples[i - 1].second) rose += samples[i - 1].second;  // the counter began anew
  }
  const double sampled = samples.back().first - samples.front().first;
  const double between = sampled / static_cast<double>(samples.size() - 1), most = between * 1.1;
  double before = samples.front().first - from, after = to - samples.back().first;
  if (before >= most) before = between / 2;
  if (rose > 0 && samples.front().second >= 0) before = std::min(before, sampled * (samples.front().second / rose));
  if (after >= most) after = between / 2;
  rose *= (sampled + before + after) / sampled;
  return rate ? rose / (to - from) : rose;
}

double operate(const std::string& name, double a, double b) {
  if (name == "+") return a + b;
  if (name == "-") return a - b;
  if (name == "*") return a * b;
  if (name == "/") return a / b;
  if (name == ">") return a > b ? 1 : 0;
  if (name == "<") return a < b ? 1 : 0;
  if (name == ">=") return a >= b ? 1 : 0;
  if (name == "<=") return a <= b ? 1 : 0;
  if (name == "==") return a == b ? 1 : 0;
  CHECK(name == "!=", "PromQL's operator {} is not known here", name);
  return a != b ? 1 : 0;
}

class Evaluation {
 public:
  Evaluation(const Series& series, double now) : series_(series), now_(now) {}

  Value of(const PromNode& node) const {
    switch (node.kind) {
      case PromNode::Kind::number:
        return scalar(node.number);
      case PromNode::Kind::selector:
        return {.vector = select(node)};
      case PromNode::Kind::call:
        return {.scalar = node.name == "scalar", .vector = call(node)};
      case PromNode::Kind::aggregation:
        return {.vector = aggregate(node)};
      case PromNode::Kind::operation:
        return operation(node);
      case PromNode::Kind::text:
        break;
    }
    CHECK(false, "a text is no value: {}", node.name);
    return {};
  }

 private:
  Vector select(const PromNode& node) const {
    CHECK(node.range == 0, "a range of {} is no value", node.name);
    Vector found;
    for (const auto& [labels, one] : series_.of(node.name)) {
      if (one.stale || one.samples.back().first <= now_ - kLookBack || !matches(node, labels)) continue;
      found.push_back({labels, one.samples.back().second});
    }
    return found;
  }

  // The samples of each series in a range, which are not none.
  void ranges(const PromNode& node,
              const std::function<void(const LabelSet&, std::span<const std::pair<double, double>>)>& take) const {
    CHECK(node.range > 0, "{} needs a range", node.name);
    for (const auto& [labels, one] : series_.of(node.name)) {
      if (!matches(node, labels)) continue;
      std::vector<std::pair<double, double>> within;
      for (const auto& sample : one.samples) {
        if (sample.first > now_ - node.range && sample.first <= now_) within.push_back(sample);
      }
      if (!within.empty()) take(labels, within);
    }
  }

  Vector over_time(const PromNode& node) const {
    const PromNode& range = node.arguments.at(0);
    Vector found;
    ranges(range, [&](const LabelSet& labels, std::span<const std::pair<double, double>> samples) {
      if (node.name == "rate" || node.name == "increase") {
        if (const auto rose = rise(samples, now_ - range.range, now_, node.name == "rate")) found.push_back({labels, *rose});
        return;
      }
      double sum = 0, least = samples.front().second, most = least;
      for (const auto& [when, value] : samples) {
        sum += value;
        least = std::min(least, value);
        most = std::max(most, value);
      }
      found.push_back({labels, node.name.starts_with("max")   ? most
                               : node.name.starts_with("min") ? least
                                                              : sum / static_cast<double>(samples.size())});
    });
    if (node.name != "absent_over_time") return found;
    if (!found.empty()) return {};
    LabelSet labels;
    for (const auto& matcher : range.matchers) {
      if (matcher.equal) labels[matcher.label] = matcher.value;
    }
    return {{labels, 1}};
  }

  Vector call(const PromNode& node) const {
    const auto& arguments = node.arguments;
    if (node.name == "rate" || node.name == "increase" || node.name.ends_with("_over_time")) return over_time(node);
    Vector found = of(arguments.at(0)).vector;
    if (node.name == "vector") return found;
    if (node.name == "scalar") return found.size() == 1 ? Vector{{{}, found[0].value}} : Vector{{{}, NAN}};
    if (node.name == "label_replace") {
      CHECK(arguments.at(3).name.empty() && arguments.at(4).name.empty(), "label_replace copies nothing here");
      for (Instant& one : found) one.labels[arguments.at(1).name] = arguments.at(2).name;
      return found;
    }
    for (Instant& one : found) one.value = apply(node, one.value);
    return found;
  }

  double apply(const PromNode& node, double value) const {
    if (node.name == "floor") return std::floor(value);
    if (node.name == "ceil") return std::ceil(value);
    const double bound = of(node.arguments.at(1)).vector.at(0).value;
    if (node.name == "clamp_min") return std::max(value, bound);
    CHECK(node.name == "clamp_max", "PromQL's function {} is not known here", node.name);
    return std::min(value, bound);
  }

  Vector aggregate(const PromNode& node) const {
    std::map<LabelSet, std::vector<double>> groups;
    for (const Instant& one : of(node.arguments.at(0)).vector) {
      groups[node.grouped ? only(one.labels, node.group) : LabelSet{}].push_back(one.value);
    }
    Vector found;
    for (const auto& [labels, values] : groups) {
      double sum = 0;
      for (const double value : values) sum += value;
      const auto count = static_cast<double>(values.size());
      found.push_back({labels, node.name == "sum"     ? sum
                               : node.name == "count" ? count
                               : node.name == "avg"   ? sum / count
                               : node.name == "min"   ? std::ranges::min(values)
                                                      : std::ranges::max(values)});
    }
    return found;
  }

  Value operation(const PromNode& node) const {
    const Value left = of(node.arguments[0]), right = of(node.arguments[1]);
    if (node.name == "or" || node.name == "and" || node.name == "unless")
      return {.vector = sets(node, left.vector, right.vector)};
    const bool compares = std::string_view("><=!").contains(node.name[0]);
    const bool filters = compares && !node.boolean;
    if (left.scalar && right.scalar) return scalar(operate(node.name, left.vector[0].value, right.vector[0].value));
    Vector found;
    for (const Instant& a : left.vector) {
      for (const Instant& b : right.vector) {
        if (!left.scalar && !right.scalar && key(node, a) != key(node, b)) continue;
        const double result = operate(node.name, a.value, b.value);
        const Instant& kept = left.scalar ? b : a;
        if (!filters || result != 0) found.push_back({kept.labels, filters ? kept.value : result});
      }
    }
    return {.vector = std::move(found)};
  }

  static LabelSet key(const PromNode& node, const Instant& one) {
    return node.grouped ? only(one.labels, node.group) : one.labels;
  }

  static Vector sets(const PromNode& node, const Vector& left, const Vector& right) {
    const auto in = [&](const Instant& one, const Vector& other) {
      return std::ranges::any_of(other, [&](const Instant& its) { return key(node, its) == key(node, one); });
    };
    Vector found;
    for (const Instant& one : left) {
      if (node.name == "or" || in(one, right) == (node.name == "and")) found.push_back(one);
    }
    for (const Instant& one : right) {
      if (node.name == "or" && !in(one, left)) found.push_back(one);
    }
    return found;
  }

  const Series& series_;
  double now_;
};

}  // namespace

std::vector<Instant> Query::at(const Series& series, double now) const { return Evaluation(series, now).of(root_).vector; }

double Query::value(const Series& series, double now) const {
  const auto answer = at(series, now);
  CHECK(answer.size() <= 1, "a scaling query gives {} values", answer.size());
  return answer.empty() ? 0 : answer[0].value;
}

}  // namespace slipstream::sim
