#include "tools/slipstream/top/read_pages.h"

#include <simdjson.h>

namespace slipstream::command::top {
namespace {

using Element = simdjson::dom::element;

void read(Element from, const char* field, std::string& into) {
  if (std::string_view text; from[field].get(text) == simdjson::SUCCESS) into = text;
}

void read(Element from, const char* field, double& into) {
  if (double number = 0; from[field].get(number) == simdjson::SUCCESS) into = number;
}

void read(Element from, const char* field, int64_t& into) {
  if (int64_t number = 0; from[field].get(number) == simdjson::SUCCESS) into = number;
}

WorkerLook worker_of(Element json) {
  WorkerLook worker;
  read(json, "role", worker.role);
  read(json, "incarnation", worker.incarnation);
  read(json, "state", worker.state);
  read(json, "what", worker.what);
  read(json, "metrics", worker.metrics);
  read(json, "pid", worker.pid);
  read(json, "sequences", worker.sequences);
  read(json, "busy", worker.busy);
  if (double gain = 0; json["greedy_gain"].get(gain) == simdjson::SUCCESS) worker.greedy_gain = gain;
  if (double gain = 0; json["coupled_gain"].get(gain) == simdjson::SUCCESS) worker.coupled_gain = gain;
  return worker;
}

SettingLook setting_of(Element json) {
  SettingLook setting;
  read(json, "method", setting.method);
  read(json, "model", setting.model);
  read(json, "threshold", setting.threshold);
  read(json, "depth_max", setting.depth_max);
  read(json, "why", setting.why);
  read(json, "verify_price_tokens", setting.verify_price);
  read(json, "draft_price_tokens", setting.draft_price);
  return setting;
}

// Calls `take_page` with the whole, then `take` with each element of its list `name`. Error: there
// is no such list.
Result<void> each_of(std::string_view json, const char* name, const auto& take_page, const auto& take) {
  simdjson::dom::parser parser;
  const simdjson::padded_string padded(json);
  simdjson::dom::element root;
  simdjson::dom::array list;
  if (parser.parse(padded).get(root) != simdjson::SUCCESS || root[name].get(list) != simdjson::SUCCESS) {
    return fail("the page has no list \"{}\"; is it a Slipstream router of this version?", name);
  }
  take_page(root);
  for (const Element element : list) take(element);
  return {};
}

}  // namespace

Result<std::vector<WorkerLook>> read_workers(std::string_view json) {
  std::vector<WorkerLook> workers;
  const auto take = [&](Element worker) {
    if (workers.size() < kWorkersMax) workers.push_back(worker_of(worker));
  };
  TRY_VOID(each_of(json, "workers", [](Element) {}, take));
  return workers;
}

Result<TuningLook> read_tuning(std::string_view json) {
  TuningLook tuning;
  const auto take_page = [&](Element page) { read(page, "first_threshold", tuning.first_threshold); };
  TRY_VOID(each_of(json, "kinds", take_page, [&](Element kind) { tuning.kinds.push_back(setting_of(kind)); }));
  return tuning;
}

}  // namespace slipstream::command::top
