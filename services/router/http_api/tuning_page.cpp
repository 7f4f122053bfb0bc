#include "services/router/http_api/tuning_page.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace slipstream {
namespace {

using Json = nlohmann::ordered_json;

std::string_view words_of(TuneReason reason) {
  constexpr std::string_view kWords[] = {"too little was counted lately to change it",
                                         "less likely nodes do not pay",
                                         "every node pays",
                                         "no node pays",
                                         "no statistics came lately: the last setting holds",
                                         "statistics came that cannot be: the last setting holds"};
  return kWords[static_cast<size_t>(reason)];
}

std::string name_of(const TunedKind& kind) {
  return kind.model.empty() ? kind.method : fmt::format("{} ({})", kind.method, kind.model);
}

double share(double part, double of) { return of > 0 ? part / of : 0; }

// "1 0.80/0.78": of the nodes at depth 1, 0.80 were predicted to be accepted, and 0.78 were.
std::string depths_of(const TunerSetting& setting) {
  std::string text;
  for (size_t range = 0; range < setting.by_depth.size(); ++range) {
    const NodeCounts& depth = setting.by_depth[range];
    if (depth.verified < 1) continue;
    text += fmt::format("  {} {:.2f}/{:.2f}", calibration_range_name(range), share(depth.expected, depth.verified),
                        share(depth.accepted, depth.verified));
  }
  return text.empty() ? "  nothing yet" : text;
}

Json bins_of(const NodeCounts& bin) {
  return {{"verified", bin.verified},
          {"predicted", share(bin.expected, bin.verified)},
          {"accepted", share(bin.accepted, bin.verified)}};
}

Json json_of(const TunerSetting& setting) {
  Json depths = Json::object(), survivals = Json::object();
  for (size_t range = 0; range < setting.by_depth.size(); ++range) {
    depths[calibration_range_name(range)] = bins_of(setting.by_depth[range]);
  }
  for (size_t bin = 0; bin < setting.by_survival.size(); ++bin) {
    survivals[fmt::format("{:.1f}", static_cast<double>(bin + 1) / kCalibrationBins)] = bins_of(setting.by_survival[bin]);
  }
  return {{"method", setting.kind.method},
          {"model", setting.kind.model},
          {"threshold", setting.threshold},
          {"depth_max", setting.depth_max},
          {"version", setting.version},
          {"reason", slipstream::name_of(setting.reason)},
          {"why", words_of(setting.reason)},
          {"theorem_threshold", setting.theorem_threshold},
          {"verify_price_tokens", setting.verify_price},
          {"draft_price_tokens", setting.draft_price},
          {"tokens_per_second", setting.tokens_per_second},
          {"step_seconds", setting.step_seconds},
          {"level_seconds", setting.level_seconds},
          {"answer_seconds", setting.answer_seconds},
          {"wait_ratio", setting.wait_share},
          {"late_ratio", setting.late_share()},
          {"nodes", setting.nodes()},
          {"depths", std::move(depths)},
          {"survivals", std::move(survivals)}};
}

}  // namespace

std::string tuning_table(const TuningFacts& tuning) {
  std::string text;
  for (const TunerSetting& setting : tuning.settings) {
    text += fmt::format("  {:20} h {:.2f}, at most {} deep, version {}: {}\n", name_of(setting.kind), setting.threshold,
                        setting.depth_max, setting.version, words_of(setting.reason));
    text += fmt::format("  {:20} a node costs {:.3f} tokens to verify and {:.3f} to draft; the theorem's h {:.2f}\n", "",
                        setting.verify_price, setting.draft_price, setting.theorem_threshold);
    text += fmt::format("  {:20} predicted/seen by depth{}\n", "", depths_of(setting));
  }
  return text;
}

std::string tuning_json(const TuningFacts& tuning) {
  Json kinds = Json::array();
  for (const TunerSetting& setting : tuning.settings) kinds.push_back(json_of(setting));
  return Json{{"tuner", tuning.tunes ? "on" : "off"},
              {"first_threshold", tuning.first_threshold},
              {"changes", tuning.counters.changes},
              {"kinds", std::move(kinds)}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace slipstream
