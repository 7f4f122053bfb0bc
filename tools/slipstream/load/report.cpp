#include "tools/slipstream/load/report.h"

#include <cmath>

#include <fmt/format.h>

#include "tools/slipstream/load/plots.h"

namespace slipstream::command::load {
namespace {

constexpr double kLateShare = 0.01;  // of the requests: fewer late ones move nothing but the highest percentiles
constexpr double kBusyCores = 0.9;   // of the generator: from here on, its threads may have waited for each other

// Three digits, as many as a latency is worth: "0.123", "1.23", "12.3", "1234".
std::string short_number(double value) {
  const int digits = value >= 99.95 ? 0 : value >= 9.995 ? 1 : value >= 0.9995 ? 2 : 3;
  return fmt::format("{:.{}f}", value, digits);
}

std::string ms(Duration duration) { return short_number(std::chrono::duration<double, std::milli>(duration).count()); }

std::string quantile_ms(const LatencyHistogram& durations, double q) {
  return durations.empty() ? "-" : ms(durations.quantile(q));
}

void latency_row(Table& table, const char* name, const LatencyHistogram& durations) {
  if (durations.empty()) return table.row({name, "-", "-", "-", "-", "-", "-"});
  table.row({name, ms(durations.mean()), ms(durations.quantile(0.5)), ms(durations.quantile(0.9)), ms(durations.quantile(0.95)),
             ms(durations.quantile(0.99)), ms(durations.greatest())});
}

std::string share(uint64_t part, uint64_t whole) {
  return whole == 0 ? "-" : fmt::format("{:.1f} %", 100 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string objectives(const Objectives& objectives) {
  std::string text;
  if (objectives.ttft) text += fmt::format("TTFT at most {} ms", ms(*objectives.ttft));
  if (objectives.tpot) text += fmt::format("{}TPOT at most {} ms", text.empty() ? "" : ", ", ms(*objectives.tpot));
  return text;
}

uint64_t failed(const Tally& tally) { return tally.requests() - tally.complete() - tally.ended(Ending::cut); }

std::string about_late(const Tally& tally) {
  const bool many = static_cast<double>(tally.late()) > kLateShare * static_cast<double>(tally.requests());
  return fmt::format(
      "{} of {} requests were sent more than {} ms late, at most {} ms. Latencies count from when a request should have been "
      "sent. {}",
      tally.late(), tally.requests(), std::chrono::duration_cast<std::chrono::milliseconds>(kLate).count(),
      ms(tally.lateness().greatest()),
      many ? "This program was a bottleneck, too: give it more CPU or, in an open loop, allow more requests at once "
             "(--in-flight)."
           : "So few change nothing but the highest percentiles.");
}

void show_distributions(const LoadReport& report, Document& document) {
  document.push_back(Heading{2, "How latencies are distributed"});
  for (const CdfMeasure& measure : cdf_measures()) document.push_back(Plot{cdf_plot(report.points, measure)});
}

std::vector<std::string> head(const LoadReport& report) { return {report.server, report.asked, report.how}; }

}  // namespace

Table latency_table(const Tally& tally) {
  Table table({{"ms"}, {"mean", true}, {"p50", true}, {"p90", true}, {"p95", true}, {"p99", true}, {"max", true}});
  const Measures& measures = tally.measures();
  latency_row(table, "TTFT", measures.ttft);
  if (tally.late() > 0) latency_row(table, "TTFT, from sending", measures.ttft_from_sending);
  latency_row(table, "ITL, by chunk", measures.itl_by_chunk);
  if (!measures.itl_by_token.empty()) latency_row(table, "ITL, by token", measures.itl_by_token);
  latency_row(table, "TPOT", measures.tpot);
  latency_row(table, "E2E", measures.e2e);
  return table;
}

Table count_table(const Tally& tally) {
  Table table({{""}, {"count", true}, {"per second", true}, {"share", true}});
  const uint64_t all = tally.requests();
  const auto row = [&](const std::string& name, uint64_t count, const std::string& part) {
    table.row({name, fmt::format("{}", count), short_number(tally.per_s(count)), part});
  };
  row("requests", all, "");
  for (size_t i = 0; i < kEndings; ++i) {
    const auto ending = static_cast<Ending>(i);
    const uint64_t count = tally.ended(ending);
    if (count > 0 || ending == Ending::complete) row(fmt::format("  {}", words(ending)), count, share(count, all));
  }
  if (tally.objectives().any()) row("  good: " + objectives(tally.objectives()), tally.good(), share(tally.good(), all));
  row("tokens in", tally.tokens_in(), "");
  if (tally.tokens_cached() > 0) {
    row("  from a prefix cache", tally.tokens_cached(), share(tally.tokens_cached(), tally.tokens_in()));
  }
  row("tokens out", tally.tokens_out(), "");
  if (tally.tokens_out_of_parts() > 0) row("  beside them, of answers cut short", tally.tokens_out_of_parts(), "");
  return table;
}

Table sweep_table(std::span<const Point> points) {
  const bool goals = !points.empty() && points.front().tally.objectives().any();
  std::vector<Table::Column> columns{
      {""},          {"requests", true}, {"failed", true}, {"requests/s", true}, {"tokens/s", true}, {"TTFT", true},
      {"p99", true}, {"TPOT", true},     {"p99", true},    {"E2E", true},        {"p99", true},      {"late", true}};
  if (goals) columns.push_back({"good", true});
  Table table(std::move(columns));
  for (const Point& point : points) {
    const Tally& tally = point.tally;
    const Measures& measures = tally.measures();
    std::vector<std::string> cells{point.name, fmt::format("{}", tally.requests()), fmt::format("{}", failed(tally)),
                                   short_number(tally.per_s(tally.complete())), short_number(tally.per_s(tally.tokens_out()))};
    for (const LatencyHistogram* durations : {&measures.ttft, &measures.tpot, &measures.e2e}) {
      cells.push_back(quantile_ms(*durations, 0.5));
      cells.push_back(quantile_ms(*durations, 0.99));
    }
    cells.push_back(fmt::format("{}", tally.late()));
    if (goals) cells.push_back(share(tally.good(), tally.requests()));
    table.row(std::move(cells));
  }
  return table;
}

Table ratio_table(std::span<const NamedRatio> ratios) {
  Table table({{"first / second"}, {"ratio", true}, {"95 % interval", true}, {"pairs", true}});
  for (const NamedRatio& named : ratios) {
    if (!named.ratio) {
      table.row({named.name, "-", "-", "-"});
      continue;
    }
    const Ratio& ratio = *named.ratio;
    table.row({named.name, fmt::format("{:.3f}", ratio.mean), fmt::format("{:.3f} to {:.3f}", ratio.low, ratio.high),
               fmt::format("{}", ratio.pairs)});
  }
  return table;
}

std::vector<std::string> remarks(const Point& point) {
  const Tally& tally = point.tally;
  std::vector<std::string> lines;
  if (tally.late() > 0) lines.push_back(about_late(tally));
  if (point.generator_cores >= kBusyCores) {
    lines.push_back(
        fmt::format("This generator used {:.1f} CPUs: it may have read tokens later than they came.", point.generator_cores));
  }
  for (const auto& [problem, times] : tally.problems()) lines.push_back(fmt::format("{} x: {}", times, problem));
  if (tally.refusals_without_retry_after() > 0) {
    lines.push_back(fmt::format("Refusals (429 or 503) without Retry-After: {}.", tally.refusals_without_retry_after()));
  }
  if (tally.without_usage() > 0) {
    lines.push_back(
        fmt::format("Answers without usage: {}. Their tokens are counted by chunks, and may be more.", tally.without_usage()));
  }
  return lines;
}

std::string plain(const LoadReport& report) {
  std::string text;
  for (const std::string& line : head(report)) text += line + "\n";
  for (const Point& point : report.points) {
    if (report.points.size() > 1) text += "\n" + point.name + "\n";
    if (report.points.size() <= 2) text += "\n" + count_table(point.tally).plain() + "\n" + latency_table(point.tally).plain();
    for (const std::string& line : remarks(point)) text += "- " + line + "\n";
  }
  if (report.points.size() > 1) text += "\n" + sweep_table(report.points).plain() + "TTFT, TPOT and E2E: p50 and p99 in ms\n";
  if (!report.ratios.empty()) text += "\n" + ratio_table(report.ratios).plain();
  if (report.stopped) text += "\nThe run was stopped before its end; this is what was measured until then.\n";
  return text;
}

Document page(const LoadReport& report) {
  Document document{Heading{1, "slipstream load"}};
  for (const std::string& line : head(report)) document.push_back(Paragraph{line});
  document.push_back(Paragraph{report.made});
  if (report.stopped)
    document.push_back(Paragraph{"The run was stopped before its end; this is what was measured until then."});
  if (report.points.size() > 1) {
    document.push_back(Heading{2, "All runs"});
    document.push_back(sweep_table(report.points));
    document.push_back(Paragraph{"TTFT, TPOT and E2E: p50 and p99 in ms."});
    if (report.ratios.empty()) document.push_back(Plot{sweep_plots(report.points, report.offered_unit)});
  }
  if (!report.ratios.empty()) document.push_back(ratio_table(report.ratios));
  if (report.points.size() > 1) show_distributions(report, document);
  for (const Point& point : report.points) {
    document.push_back(Heading{2, point.name});
    document.push_back(count_table(point.tally));
    document.push_back(latency_table(point.tally));
    for (const std::string& line : remarks(point)) document.push_back(Paragraph{line});
    if (report.points.size() == 1) show_distributions(report, document);
    document.push_back(Heading{3, "Over time"});
    document.push_back(Plot{latency_plot(point.tally.timeline())});
    document.push_back(Plot{throughput_plot(point.tally.timeline())});
  }
  return document;
}

}  // namespace slipstream::command::load
