// slipstream-verifier: owns the target model and the truth of every sequence it is given.
// Constructs, connects, runs.
#include <chrono>
#include <memory>
#include <utility>

#include "common/base/names.h"
#include "common/drafting/ngram.h"
#include "common/service/service_main.h"
#include "common/service/worker_service.h"
#include "services/verifier/drafting_page.h"
#include "services/verifier/drain.h"
#include "services/verifier/failed_jobs.h"
#include "services/verifier/grammar_thread.h"
#include "services/verifier/load_target.h"
#include "services/verifier/masks_ahead.h"
#include "services/verifier/metrics_page.h"
#include "services/verifier/verifier.h"
#include "services/verifier/verify_job.h"

namespace slipstream {
namespace {

std::unique_ptr<Method> resident(const VerifierOptions& options, const std::shared_ptr<LookUpTexts>& texts) {
  return options.resident == kNoMethod ? nullptr : std::make_unique<NgramMethod>(texts);
}

Served run(const VerifierOptions& options, StopSignal& stop) {
  if (options.check_load) return at_start(check_load(options));
  TRY(const WorkerService service, at_start(WorkerService::open(service_options("verifier", options))));
  TRY(LoadedTarget target, at_start(load_target(options)));
  TRY(const auto texts, at_start(LookUpTexts::open(options.look_up, target.tokenizer, target.model.config().vocabulary)));
  const auto config = [&](const WorkerPlace& at) { return verifier_config(options, target, at.process); };
  const std::chrono::milliseconds grace(options.drain_ms);
  FailedJobs failed;
  WorkerParts<Verifier, VerifyPlan, StepOutput, GrammarThread> parts{
      .make = [&](const WorkerPlace& at) { return Verifier(config(at), resident(options, texts)); },
      .work =
          [&, scratch = VerifyScratch(target.model), masks = MasksAhead::Thread()](VerifyPlan& plan) mutable {
            const MasksAhead ahead(masks, plan.step.masks);
            auto done = verify_job(target.model, plan, scratch);
            if (failed.one_too_many(done)) stop.request_stop();
            return done;
          },
      .local = [&](GrammarThread::Tell tell) { return GrammarThread(target.grammars, std::move(tell)); },
      .numerics_id = numerics_id(target),
      .tell_work = drafting_page,
      .add_start_metrics = [&](Exposition& page) { add_load_metrics(target.load, page); },
      .add_metrics = add_verifier_metrics,
      .tell_ready = [&](const WorkerPlace& at) { log_ready(config(at), options, target.model); },
      .grace = grace,
      .drained = [](const Verifier& verifier) { return verifier.counters().live == 0; },
      .drain_lines = {.told_to_stop = [&](const VerifierCounters& now) { return told_to_stop(now, grace); },
                      .stopped = stopped}};
  const Result<void> ran = service.run(std::move(parts), stop);
  TRY_VOID(texts->save());
  if (failed.given_up()) {
    return fail("{} jobs of {} failed one after the other, the last with: {}", kFailedJobsMost, options.device,
                failed.newest());
  }
  return ran;
}

}  // namespace
}  // namespace slipstream

int main(int argc, char** argv) {
  using namespace slipstream;
  return service_main("verifier", parse_verifier_options(argc, argv), run);
}
