// The scaling policy, as the chart has it: its queries and its values (deploy/chart/slipstream).
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "tests/sim/day/keda.h"
#include "tests/sim/day/promql.h"

namespace slipstream::sim {

using ChartValues = std::map<std::string, std::string, std::less<>>;

// The values of `autoscaling` in a section of values.yaml: "verifier" or "drafterDefaults".
ChartValues chart_values(std::string_view section);
double number(const ChartValues& values, std::string_view name);  // REQUIRES: it is one

// files/scaling/NAME.promql with its ${...} filled in.
std::string chart_text(std::string_view name, const ChartValues& values);
Query chart_query(std::string_view name, const ChartValues& values);

struct Scaling {
  ScaledObject object;
  std::vector<Query> triggers;
};
// The ScaledObjects of templates/_autoscaling.tpl.
Scaling drafter_scaling(const ChartValues& values);
Scaling verifier_scaling(const ChartValues& values);

}  // namespace slipstream::sim
