#include "services/router/tuning_metrics.h"

#include <string_view>

namespace slipstream {
namespace {

using namespace metric;

double d(uint64_t count) { return static_cast<double>(count); }

void add_setting(const TunerSetting& setting, Exposition& page) {
  const std::string_view method = setting.kind.method, model = setting.kind.model;
  const auto gauge = [&](const MetricName& name, double value) {
    page.gauge(name, value, {{"method", method}, {"model", model}});
  };
  gauge(kRouterTuningThreshold, static_cast<double>(setting.threshold));
  gauge(kRouterTuningDepth, setting.depth_max);
  gauge(kRouterTuningTheorem, setting.theorem_threshold);
  gauge(kRouterTuningVersion, d(setting.version));
  for (const std::string_view reason : kTuneReasons) {
    page.gauge(kRouterTuningReason, reason == name_of(setting.reason) ? 1 : 0,
               {{"method", method}, {"model", model}, {"reason", reason}});
  }
  const auto part = [&](const MetricName& name, std::string_view value, double number) {
    page.gauge(name, number, {{"method", method}, {"model", model}, {"part", value}});
  };
  part(kRouterTuningPrice, "verify", setting.verify_price);
  part(kRouterTuningPrice, "draft", setting.draft_price);
  part(kRouterTuningSeconds, "step", setting.step_seconds);
  part(kRouterTuningSeconds, "level", setting.level_seconds);
  part(kRouterTuningSeconds, "answer", setting.answer_seconds);
  gauge(kRouterTuningWait, setting.wait_share);
  gauge(kRouterTuningLate, setting.late_share());
  gauge(kRouterTuningSpeed, setting.tokens_per_second);
  gauge(kRouterTuningNodes, setting.nodes());
}

}  // namespace

void add_tuning_metrics(const RouterCounters& counters, Exposition& page) {
  const auto& [tunes, first_threshold, settings, c] = *counters.tuning;
  for (const TunerSetting& setting : settings) add_setting(setting, page);
  page.counter(kRouterReadings, d(c.readings), {{"outcome", "taken"}});
  page.counter(kRouterReadings, d(c.restarts), {{"outcome", "restarted"}});
  page.counter(kRouterReadings, d(c.refused), {{"outcome", "refused"}});
  page.counter(kRouterReadings, d(c.unreadable), {{"outcome", "unreadable"}});
  page.counter(kRouterReadings, d(c.unreached), {{"outcome", "unreached"}});
  page.counter(kRouterReadings, d(c.overflow), {{"outcome", "too_many"}});
  page.counter(kRouterThresholdChanges, d(c.changes));
  page.counter(kRouterRetunes, d(counters.retunes));
}

}  // namespace slipstream
