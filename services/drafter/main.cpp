// slipstream-drafter: drafts trees for the sequences of its verifiers. This file reads the options
// and the models, puts the parts together and runs them.
#include <string>
#include <utility>

#include <fmt/format.h>
#include "common/base/endpoint.h"
#include "common/base/log.h"
#include "common/drafting/make_method.h"
#include "common/service/service_main.h"
#include "common/service/worker_service.h"
#include "services/drafter/drain.h"
#include "services/drafter/inline_drafter.h"
#include "services/drafter/metrics_page.h"
#include "services/drafter/model_folder.h"

namespace slipstream {
namespace {

// The method and its model, for the log and the HTTP page.
std::string drafts_with(const Method& method) {
  const DraftModel model = method.draft_model();
  if (model.name.empty()) return std::string(method.name());
  return fmt::format("{} with {}, weights {:016x}", method.name(), model.name, model.weights);
}

// The parts that both actors share. A is Drafter, whose jobs run on the compute thread, or
// InlineDrafter, which runs them itself. The caller sets `make` and, for Drafter, `work`.
template <class A, class... Job>
WorkerParts<A, Job...> parts_of(const std::string& drafts_with) {
  const auto stopped_after = [](const DrafterCounters&, const DrafterCounters& now) { return stopped(now); };
  const auto tell_ready = [drafts_with](const WorkerPlace& at) {
    log_info("id {:016x}, pid {}: {} at {}, verifiers connect to {}, metrics at {}", at.process.incarnation, at.process.pid,
             drafts_with, at.bound, at.reached_at, at.process.metrics_endpoint);
  };
  return {.make = {},
          .works_with = drafts_with,
          .add_metrics = add_drafter_metrics,
          .tell_ready = tell_ready,
          .drain_lines = {.told_to_stop = told_to_stop, .stopped = stopped_after}};
}

// Of --check-load: makes the method as run() does, and logs what it has.
Result<void> check_load(const DrafterOptions& options) {
  TRY(const Fingerprint target, read_token_fingerprint(options.model));
  TRY(const auto texts, LookUpTexts::open({}, target.tokenizer, target.vocabulary));
  TRY(const auto method, make_method({.options = options, .target = target, .texts = texts}));
  log_info("{} on {}: it loads", drafts_with(*method), options.device);
  return {};
}

Served run(const DrafterOptions& options, StopSignal& stop) {
  if (options.check_load) return at_start(check_load(options));
  WorkerServiceOptions wanted = service_options("drafter", options);
  wanted.bind = options.bind;
  wanted.advertise = options.advertise;
  wanted.admits = {"verifier"};
  TRY(const WorkerService service, at_start(WorkerService::open(std::move(wanted))));
  TRY(Fingerprint fingerprint, at_start(read_token_fingerprint(options.model)));
  TRY(const auto texts, at_start(LookUpTexts::open(options.look_up, fingerprint.tokenizer, fingerprint.vocabulary)));
  TRY(const auto method, at_start(make_method({.options = options, .target = fingerprint, .texts = texts})));
  fingerprint.weights = method->draft_model().weights;
  const auto config = [&](const WorkerPlace& at) -> DrafterConfig {
    return {.process = at.process,
            .fingerprint = fingerprint,
            .method = std::string(method->name()),
            .draft_model = method->draft_model().name,
            .features = method->features_read(),
            .room = method->room().value_or(MethodRoom{.tokens = kDrafterTokensMax}),
            .draft_endpoint = at.reached_at};
  };
  if (method->quick()) {
    auto parts = parts_of<InlineDrafter>(drafts_with(*method));
    parts.make = [&](const WorkerPlace& at) { return InlineDrafter(config(at), *method); };
    const Result<void> ran = service.run(std::move(parts), stop);
    TRY_VOID(texts->save());
    return ran;
  }
  auto parts = parts_of<Drafter, DraftPlan, Drafts>(drafts_with(*method));
  parts.make = [&](const WorkerPlace& at) { return Drafter(config(at)); };
  parts.work = [&](DraftPlan& plan) { return run_draft(*method, plan); };
  return service.run(std::move(parts), stop);
}

}  // namespace
}  // namespace slipstream

int main(int argc, char** argv) {
  using namespace slipstream;
  return service_main("drafter", parse_drafter_options(argc, argv), run);
}
