// The router tells verifiers how far each drafter guesses: by what its tuner makes of the workers'
// pages (common/speculation/tuner.h).
#include <algorithm>
#include <utility>

#include "services/router/router_state.h"

namespace slipstream {
namespace {

constexpr Time kBetweenRetunes = std::chrono::seconds(1);  // of one request

double seconds(Time time) { return static_cast<double>(time.count()) * 1e-6; }

TunedKind kind_of(const Hello& drafter) {
  return {.method = drafter.methods.empty() ? std::string() : drafter.methods.front(), .model = drafter.draft_model};
}

}  // namespace

void Router::State::on(Scraped&& event, Time now, Effects&) {
  check_tuner(now);
  if (const auto* reading = std::get_if<WorkerReading>(&event.what)) {
    tuner.read(event.source, *reading, seconds(now));
  } else {
    tuner.failed(std::get<NoReading>(event.what).reached);
  }
}

void Router::State::check_tuner(Time now) {
  const uint64_t before = tuner.counters().changes;
  tuner.look(seconds(now));
  tunings_changed |= tuner.counters().changes != before;
  TuningFacts facts{
      .tunes = config.tunes, .first_threshold = config.tuning.threshold, .settings = {}, .counters = tuner.counters()};
  for (const auto& [kind, setting] : tuner.settings()) facts.settings.push_back(setting);
  counters.tuning = std::make_shared<const TuningFacts>(std::move(facts));
}

Tuning Router::State::tuning_of(const KnownWorker& drafter) const {
  Tuning tuning = config.tuning;
  const TunerSetting* setting = tuner.find(kind_of(drafter.hello));
  if (setting == nullptr || setting->version == 0) return tuning;
  tuning.version = setting->version;
  tuning.threshold = setting->threshold;
  tuning.depth_max = std::min(tuning.depth_max, static_cast<uint16_t>(setting->depth_max));
  tuning.reason = name_of(setting->reason);
  return tuning;
}

// REQUIRES: the request is at a verifier.
bool Router::State::retune(LiveRequest& request) {
  bool changed = false;
  for (DrafterRef& ref : request.at_verifier().drafters) {
    const auto same = [&](const auto& known) { return known.second.hello.incarnation == ref.incarnation; };
    const auto worker = std::ranges::find_if(workers.all(), same);
    if (worker == workers.all().end()) continue;
    Tuning tuning = tuning_of(worker->second);
    if (tuning.version == ref.tuning.version) continue;  // the words of its reason are no news
    ref.tuning = std::move(tuning);
    changed = true;
  }
  return changed;
}

// A request whose last change is younger than kBetweenRetunes has its turn later.
void Router::State::check_tunings(Time now, Effects& effects) {
  if (!tunings_changed || now < retune_not_before) return;
  tunings_changed = false;
  retune_not_before = now + kBetweenRetunes;
  for (auto& [id, request] : requests) {
    if (request.waits()) continue;
    AtVerifier& at = request.at_verifier();
    if (at.retuned && now - *at.retuned < kBetweenRetunes) {
      tunings_changed = true;
      retune_not_before = std::min(retune_not_before, *at.retuned + kBetweenRetunes);
      continue;
    }
    if (!retune(request)) continue;
    at.retuned = now;
    ++at.assignment;
    ++counters.retunes;
    send_assign(request, now, effects);
  }
  if (!tunings_changed) retune_not_before = {};
}

}  // namespace slipstream
