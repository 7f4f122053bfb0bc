#include "tests/sim/day/fleet.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "services/drafter/metrics_page.h"
#include "services/router/metrics_page.h"
#include "services/verifier/metrics_page.h"

namespace slipstream::sim {
namespace {

constexpr Time kGrace = std::chrono::seconds(25);  // of a drain, as the chart's drainMs
constexpr Time kDrainLook = std::chrono::milliseconds(100);
constexpr const char* kNames[] = {"router", "verifier", "drafter"};  // [Kind]

Fingerprint fingerprint(uint64_t weights) {
  return {.tokenizer = 1, .vocabulary = kToyVocabulary, .eos_ids = {kToyStop}, .weights = weights};
}

Breach breach() {
  return [](const std::string& found) { CHECK(false, "{}", found); };
}

void add_page(const RouterCounters& counters, Exposition& page) { add_router_metrics(counters, page); }
void add_page(const VerifierCounters& counters, Exposition& page) { add_verifier_metrics(counters, page); }
void add_page(const DrafterCounters& counters, Exposition& page) { add_drafter_metrics(counters, page); }

}  // namespace

Fleet::Fleet(FleetConfig config)
    : config_(std::move(config)), links_(time_, trace_, config_.seed), random_(config_.seed, "fleet") {
  for (int i = 0; i < config_.routers; ++i) router_endpoints_.push_back(fmt::format("tcp://router-{}", i));
  scale(Kind::router, config_.routers);
}

void Fleet::scale(Kind kind, int pods) {
  of(kind, [&](auto& all) {
    int wanted = this->pods(kind);
    const int more = pods - wanted;
    for (int i = 0; i < more; ++i, ++wanted) {
      const size_t at = all.size();
      all.push_back({.name = fmt::format("{}-{}", kNames[static_cast<int>(kind)], at), .created = time_.now()});
      time_.in(config_.starts[static_cast<size_t>(kind)] + config_.spread * i / more, [this, kind, at] { begin(kind, at); });
    }
    for (size_t at = all.size(); wanted > pods && at-- > 0;) {
      if (all[at].going) continue;
      go(all, at);
      --wanted;
    }
  });
}

template <class L>
void Fleet::go(Pods<L>& pods, size_t at) {
  Pod<L>& pod = pods[at];
  pod.going = true;
  if (pod.life == nullptr) {
    pod.ended = time_.now();
    return;
  }
  pod.life->begin_drain();
  // The vector may grow until then: the pod is found by its place.
  auto look = [this, &pods, at, latest = time_.now() + kGrace](auto& self) -> void {
    Pod<L>& leaving = pods[at];
    if (!leaving.life->done() && time_.now() < latest) {
      time_.in(kDrainLook, [self]() mutable { self(self); });
      return;
    }
    leaving.life->kill(true);
    leaving.ended = time_.now();
  };
  time_.in(kDrainLook, [look]() mutable { look(look); });
}

void Fleet::begin(Kind kind, size_t at) {
  const Place place{time_, links_, trace_, config_.timed};
  const WorkerProcess process{.incarnation = random_.word() >> 1, .routers = router_endpoints_};
  if (kind == Kind::router) {
    const RouterConfig config{.incarnation = process.incarnation,
                              .fingerprint = fingerprint(0),
                              .context_max = kToyContext,
                              .tuning = config_.tuning,
                              .trust_local = true};
    ToClients clients([this](const Delivery& delivery) { take(delivery); },
                      [this](const Failure& failure) { answers_[failure.request - 1].failed = failure.status; }, breach());
    routers_[at].life =
        std::make_unique<RouterLife>(place, routers_[at].name, config, router_endpoints_[at], NoWork{}, std::move(clients));
  } else if (kind == Kind::verifier && !verifiers_[at].going) {
    const VerifierConfig config{.process = process,
                                .fingerprint = fingerprint(11),
                                .numerics_id = "toy a",
                                .cost = cost_model(config_.speed),
                                .context_max = kToyContext,
                                .cache_blocks = config_.cache_blocks};
    verifiers_[at].life = std::make_unique<VerifierLife>(
        place, verifiers_[at].name, config, std::nullopt,
        VerifyWork({.weights = config_.seed}, 0, config_.cache_blocks, random_.word(), config_.speed),
        WatchVerifier(config.sequences_max, breach(), config.process.incarnation), std::unique_ptr<Method>());
  } else if (kind == Kind::drafter && !drafters_[at].going) {
    const DrafterConfig config{
        .process = process, .fingerprint = fingerprint(0), .method = "toy", .draft_endpoint = "tcp://" + drafters_[at].name};
    drafters_[at].life = std::make_unique<DrafterLife>(
        place, drafters_[at].name, config, config.draft_endpoint,
        DraftWork({.weights = config_.seed, .noise = config_.drafter.noise}, config_.drafter, random_.word()),
        Misbehaviour(config_.drafter, random_.word(), breach()));
  }
}

int Fleet::pods(Kind kind) const {
  return of(kind, [](const auto& all) {
    return static_cast<int>(std::ranges::count_if(all, [](const auto& pod) { return !pod.going; }));
  });
}
int Fleet::running(Kind kind) const {
  return of(kind, [](const auto& all) {
    return static_cast<int>(std::ranges::count_if(all, [](const auto& pod) { return pod.running(); }));
  });
}

double Fleet::pod_hours(Kind kind) const {
  return of(kind, [this](const auto& all) {
    double hours = 0;
    for (const auto& pod : all) hours += static_cast<double>((pod.ended.value_or(time_.now()) - pod.created).count()) / 3.6e9;
    return hours;
  });
}

void Fleet::ask(const DayRequest& request) {
  const RequestId id = answers_.size() + 1;
  answers_.push_back({.asked = time_.now(), .wanted = request.tokens});
  RouterLife& router = *routers_[id % routers_.size()].life;
  router.post(Submit{.request = id,
                     .prompt = request.prompt,
                     .spec = {.sampling = {.temperature = 0}, .seed = request.seed, .output_max = request.tokens}});
}

void Fleet::take(const Delivery& delivery) {
  Answer& answer = answers_[delivery.request - 1];
  if (delivery.ids.empty()) return;
  if (answer.tokens == 0) answer.first = time_.now();
  answer.last = time_.now();
  answer.tokens += static_cast<int32_t>(delivery.ids.size());
}

void Fleet::scrape(Series& series) const {
  const double now = static_cast<double>(time_.now().count()) * 1e-6;
  for (const Kind kind : {Kind::router, Kind::verifier, Kind::drafter}) {
    of(kind, [&](const auto& all) {
      for (const auto& pod : all) {
        LabelSet target{{"namespace", "day"}, {"instance", pod.name}};
        if (kind == Kind::drafter) target["pool"] = "toy";
        if (pod.ended) {
          if (now - static_cast<double>(pod.ended->count()) * 1e-6 < 60) series.gone(target);
        } else if (pod.life != nullptr) {
          Exposition page;
          add_page(pod.life->actor().counters(), page);
          series.scraped(now, target, Scrape::parse(page.text()).value());
        }
      }
    });
  }
}

}  // namespace slipstream::sim
