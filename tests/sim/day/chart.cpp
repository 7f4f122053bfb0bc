#include "tests/sim/day/chart.h"

#include <charconv>
#include <filesystem>
#include <sstream>

#include "common/base/check.h"
#include "common/text/read_file.h"

namespace slipstream::sim {
namespace {

const std::filesystem::path kChart = SLIPSTREAM_CHART;  // of the sources

std::string file(const std::filesystem::path& path) {
  auto text = read_file(path);
  CHECK(text.has_value(), "{}", text.error().message);
  return *std::move(text);
}

}  // namespace

ChartValues chart_values(std::string_view section) {
  std::istringstream lines(file(kChart / "values.yaml"));
  ChartValues values{{"namespace", "day"}, {"group", ""}, {"pool", "toy"}, {"method", "toy"}};
  bool in_section = false, in_scaling = false;
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line[0] != ' ' && line[0] != '#') in_section = line == std::string(section) + ":";
    if (line.starts_with("  ") && line[2] != ' ' && line[2] != '#') in_scaling = in_section && line == "  autoscaling:";
    const size_t colon = line.find(": ");
    if (!in_scaling || !line.starts_with("    ") || colon == std::string::npos) continue;
    values[line.substr(4, colon - 4)] = line.substr(colon + 2, line.find(" #") - colon - 2);
  }
  return values;
}

double number(const ChartValues& values, std::string_view name) {
  const auto at = values.find(name);
  CHECK(at != values.end(), "the chart has no value {}", name);
  double number = 0;
  const std::string& text = at->second;
  CHECK(std::from_chars(text.data(), text.data() + text.size(), number).ec == std::errc(), "{} is no number: {}", name, text);
  return number;
}

std::string chart_text(std::string_view name, const ChartValues& values) {
  std::string text = file(kChart / "files/scaling" / (std::string(name) + ".promql"));
  for (const auto& [key, value] : values) {
    const std::string hole = "${" + key + "}";
    for (size_t at = 0; (at = text.find(hole, at)) != std::string::npos;) text.replace(at, hole.size(), value);
  }
  CHECK(!text.contains("${"), "{} asks for a value that the chart does not have: {}", name, text);
  return text;
}

Query chart_query(std::string_view name, const ChartValues& values) {
  auto query = Query::parse(chart_text(name, values));
  CHECK(query.has_value(), "{}: {}", name, query.error().message);
  return *std::move(query);
}

Scaling drafter_scaling(const ChartValues& values) {
  return {.object = {.least = static_cast<int>(number(values, "min")),
                     .most = static_cast<int>(number(values, "max")),
                     .polling = number(values, "pollingSeconds"),
                     .cooldown = number(values, "cooldownSeconds")},
          .triggers = {chart_query("drafters_pay", values), chart_query("drafters_probe", values)}};
}

Scaling verifier_scaling(const ChartValues& values) {
  return {.object = {.least = static_cast<int>(number(values, "min")),
                     .most = static_cast<int>(number(values, "max")),
                     .polling = number(values, "pollingSeconds"),
                     .down_window = number(values, "downSeconds")},
          .triggers = {chart_query("verifiers_queue", values), chart_query("verifiers_tokens", values)}};
}

}  // namespace slipstream::sim
