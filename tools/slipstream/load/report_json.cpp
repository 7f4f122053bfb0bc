#include "tools/slipstream/load/report_json.h"

#include <nlohmann/json.hpp>

namespace slipstream::command::load {
namespace {

using Json = nlohmann::ordered_json;

double ms(Duration duration) { return std::chrono::duration<double, std::milli>(duration).count(); }
double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

Json latency(const LatencyHistogram& durations) {
  if (durations.empty()) return nullptr;
  return {{"count", durations.count()},          {"mean", ms(durations.mean())},       {"min", ms(durations.least())},
          {"p50", ms(durations.quantile(0.5))},  {"p90", ms(durations.quantile(0.9))}, {"p95", ms(durations.quantile(0.95))},
          {"p99", ms(durations.quantile(0.99))}, {"max", ms(durations.greatest())}};
}

Json requests(const Tally& tally) {
  Json counts{{"all", tally.requests()}};
  for (size_t i = 0; i < kEndings; ++i) counts[key(static_cast<Ending>(i))] = tally.ended(static_cast<Ending>(i));
  counts["refused_without_retry_after"] = tally.refusals_without_retry_after();
  return counts;
}

Json objectives(const Tally& tally) {
  const Objectives& goals = tally.objectives();
  if (!goals.any()) return nullptr;
  Json json{{"ttft_ms", nullptr}, {"tpot_ms", nullptr}};
  if (goals.ttft) json["ttft_ms"] = ms(*goals.ttft);
  if (goals.tpot) json["tpot_ms"] = ms(*goals.tpot);
  json["good"] = tally.good();
  json["good_share"] = tally.requests() == 0 ? 0 : static_cast<double>(tally.good()) / static_cast<double>(tally.requests());
  json["good_per_s"] = tally.per_s(tally.good());
  return json;
}

Json timeline(const Timeline& timeline) {
  Json windows = Json::array();
  for (const Window& window : timeline.windows()) {
    windows.push_back({{"scheduled", window.scheduled},
                       {"failed", window.failed},
                       {"tokens_out", window.tokens},
                       {"ttft_p50", window.ttft.empty() ? Json() : Json(ms(window.ttft.quantile(0.5)))},
                       {"ttft_p99", window.ttft.empty() ? Json() : Json(ms(window.ttft.quantile(0.99)))},
                       {"e2e_p50", window.e2e.empty() ? Json() : Json(ms(window.e2e.quantile(0.5)))},
                       {"e2e_p99", window.e2e.empty() ? Json() : Json(ms(window.e2e.quantile(0.99)))}});
  }
  return {{"window_s", seconds(timeline.width())}, {"windows", std::move(windows)}};
}

Json run(const Point& point) {
  const Tally& tally = point.tally;
  const Measures& measures = tally.measures();
  return {{"name", point.name},
          {"elapsed_s", seconds(tally.elapsed())},
          {"requests", requests(tally)},
          {"requests_per_s", tally.per_s(tally.complete())},
          {"tokens",
           {{"in", tally.tokens_in()},
            {"cached", tally.tokens_cached()},
            {"out", tally.tokens_out()},
            {"out_of_parts", tally.tokens_out_of_parts()},
            {"chunks", tally.chunks()}}},
          {"tokens_in_per_s", tally.per_s(tally.tokens_in())},
          {"tokens_out_per_s", tally.per_s(tally.tokens_out())},
          {"answers_without_usage", tally.without_usage()},
          {"ms",
           {{"ttft", latency(measures.ttft)},
            {"ttft_from_sending", latency(measures.ttft_from_sending)},
            {"itl_by_chunk", latency(measures.itl_by_chunk)},
            {"itl_by_token", latency(measures.itl_by_token)},
            {"tpot", latency(measures.tpot)},
            {"e2e", latency(measures.e2e)},
            {"sent_after_schedule", latency(tally.lateness())}}},
          {"objectives", objectives(tally)},
          {"generator", {{"sent_late", tally.late()}, {"late_from_ms", ms(kLate)}, {"cpus", point.generator_cores}}},
          {"problems", tally.problems()},
          {"over_time", timeline(tally.timeline())}};
}

}  // namespace

std::string json(const LoadReport& report) {
  Json runs = Json::array(), ratios = Json::array();
  for (const Point& point : report.points) runs.push_back(run(point));
  for (const NamedRatio& named : report.ratios) {
    Json ratio{{"name", named.name}};
    if (named.ratio) {
      ratio.update(Json{
          {"ratio", named.ratio->mean}, {"low", named.ratio->low}, {"high", named.ratio->high}, {"pairs", named.ratio->pairs}});
    }
    ratios.push_back(std::move(ratio));
  }
  const Json whole{{"made", report.made},       {"server", report.server}, {"asked", report.asked},      {"how", report.how},
                   {"stopped", report.stopped}, {"runs", std::move(runs)}, {"ratios", std::move(ratios)}};
  return whole.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace slipstream::command::load
