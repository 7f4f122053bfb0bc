#include "tools/slipstream/load/plots.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace slipstream::command::load {
namespace {

constexpr int kCdfSteps = 100;

constexpr std::array kCdfMeasures{CdfMeasure{"TTFT", &Measures::ttft}, CdfMeasure{"ITL, by chunk", &Measures::itl_by_chunk},
                                  CdfMeasure{"TPOT", &Measures::tpot}, CdfMeasure{"E2E", &Measures::e2e}};

double ms(Duration duration) { return std::chrono::duration<double, std::milli>(duration).count(); }

// By the middle of each window.
template <class Value>
Line over_time(const Timeline& timeline, std::string name, const Value& value) {
  Line line{std::move(name), {}};
  const double width = std::chrono::duration<double>(timeline.width()).count();
  for (size_t i = 0; i < timeline.windows().size(); ++i) {
    if (const auto y = value(timeline.windows()[i])) line.points.push_back({(static_cast<double>(i) + 0.5) * width, *y});
  }
  return line;
}

Line quantiles(const Timeline& timeline, std::string name, LatencyHistogram Window::* durations, double q) {
  return over_time(timeline, std::move(name), [&](const Window& window) -> std::optional<double> {
    const LatencyHistogram& all = window.*durations;
    if (all.empty()) return std::nullopt;
    return ms(all.quantile(q));
  });
}

// The last of several windows is left out: it has ended before its time.
Line rate(const Timeline& timeline, std::string name, uint64_t Window::* count) {
  const double width = std::chrono::duration<double>(timeline.width()).count();
  Line line = over_time(timeline, std::move(name),
                        [&](const Window& window) { return std::optional(static_cast<double>(window.*count) / width); });
  if (line.points.size() > 1) line.points.pop_back();
  return line;
}

// By what was asked of the server, which a sweep may vary in any order.
template <class Value>
Line over_load(std::span<const Point> points, std::string name, const Value& value) {
  Line line{std::move(name), {}};
  for (const Point& point : points) {
    if (const std::optional<double> y = value(point.tally)) line.points.push_back({point.offered, *y});
  }
  std::ranges::sort(line.points, {}, &Line::At::x);
  return line;
}

Line quantiles(std::span<const Point> points, std::string name, LatencyHistogram Measures::* durations, double q) {
  return over_load(points, std::move(name), [&](const Tally& tally) -> std::optional<double> {
    const LatencyHistogram& all = tally.measures().*durations;
    if (all.empty()) return std::nullopt;
    return ms(all.quantile(q));
  });
}

}  // namespace

std::string sweep_plots(std::span<const Point> points, const std::string& unit) {
  const std::array tokens{
      over_load(points, "tokens/s", [](const Tally& tally) { return std::optional(tally.per_s(tally.tokens_out())); })};
  const std::array latencies{
      quantiles(points, "TTFT, p50", &Measures::ttft, 0.5), quantiles(points, "TTFT, p99", &Measures::ttft, 0.99),
      quantiles(points, "E2E, p50", &Measures::e2e, 0.5), quantiles(points, "E2E, p99", &Measures::e2e, 0.99)};
  return line_plot({.title = "Tokens out, a second, as more is asked", .x = unit, .x_logarithmic = true}, tokens) +
         line_plot({.title = "Latency (ms) as more is asked", .x = unit, .x_logarithmic = true, .y_logarithmic = true},
                   latencies);
}

std::span<const CdfMeasure> cdf_measures() { return kCdfMeasures; }

std::string cdf_plot(std::span<const Point> points, const CdfMeasure& measure) {
  std::vector<Line> lines;
  for (const Point& point : points) {
    const LatencyHistogram& durations = point.tally.measures().*measure.durations;
    if (durations.empty()) continue;
    Line line{point.name, {}};
    for (int step = 0; step <= kCdfSteps; ++step) {
      const double q = static_cast<double>(step) / kCdfSteps;
      line.points.push_back({ms(durations.quantile(q)), 100 * q});
    }
    lines.push_back(std::move(line));
  }
  return line_plot(
      {.title = fmt::format("{}: share of all (%) that is at most so long", measure.name), .x = "ms", .x_logarithmic = true},
      lines);
}

std::string latency_plot(const Timeline& timeline) {
  const std::array lines{
      quantiles(timeline, "TTFT, p50", &Window::ttft, 0.5), quantiles(timeline, "TTFT, p99", &Window::ttft, 0.99),
      quantiles(timeline, "E2E, p50", &Window::e2e, 0.5), quantiles(timeline, "E2E, p99", &Window::e2e, 0.99)};
  return line_plot({.title = "Latency (ms) of the requests of each moment", .x = "s", .y_logarithmic = true}, lines);
}

std::string throughput_plot(const Timeline& timeline) {
  const std::array tokens{rate(timeline, "tokens/s", &Window::tokens)};
  const std::array requests{rate(timeline, "scheduled", &Window::scheduled), rate(timeline, "failed", &Window::failed)};
  return line_plot({.title = "Tokens out, a second", .x = "s"}, tokens) +
         line_plot({.title = "Requests, a second", .x = "s"}, requests);
}

}  // namespace slipstream::command::load
