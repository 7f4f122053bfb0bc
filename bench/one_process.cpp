// Runs the actors of router, verifier and n-gram drafter in one process, connected by memory
// instead of sockets, behind the same HTTP API. bench/serving compares the three processes with it,
// which gives the price of their connections.
//
//   one_process MODEL_FOLDER THREADS PORT_FILE      serves until SIGTERM
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <utility>

#include "common/base/stop_signal.h"
#include "common/checkpoint/fingerprint.h"
#include "common/config/port_file.h"
#include "common/drafting/ngram.h"
#include "common/kv/block_pool.h"
#include "common/model/cpu/cpu_device.h"
#include "common/runtime/actor_loop.h"
#include "common/runtime/incarnation.h"
#include "common/runtime/memory_transport.h"
#include "services/drafter/inline_drafter.h"
#include "services/drafter/model_folder.h"
#include "services/router/router_host.h"
#include "services/verifier/admission.h"
#include "services/verifier/calibrate.h"
#include "services/verifier/verifier.h"
#include "services/verifier/verify_job.h"

namespace slipstream {
namespace {

constexpr int32_t kCacheTokens = 16384;  // the default of slipstream-verifier

VerifierConfig verifier_config(const LanguageModel& target, const CostModel& cost, uint64_t tokenizer) {
  const LlamaConfig& model = target.config();
  return {.process = {.incarnation = random_incarnation(), .routers = {"memory://router"}},
          .fingerprint = {tokenizer, model.vocabulary, model.eos_ids, target.weights_hash()},
          .numerics_id = target.numerics_id(),
          .cost = cost,
          .context_max = context_that_fits(model.context_max, kCacheTokens / kBlockTokens),
          .cache_blocks = kCacheTokens / kBlockTokens};
}

Result<void> serve(const std::string& folder, int threads, const std::string& port_file, StopSignal& stop) {
  MemoryHub hub;
  TRY(ModelFolder model, read_model_folder(RouterOptions{{.model = folder}}));
  TRY(std::shared_ptr<Device> device, make_cpu_device({.threads = threads}));
  TRY(LanguageModel target, LanguageModel::load(folder, device, {.cache_blocks = kCacheTokens / kBlockTokens}));
  TRY(const uint64_t tokenizer, hash_tokenizer(folder));
  TRY(const Fingerprint tokens, read_token_fingerprint(folder));

  model.config.incarnation = random_incarnation();
  const auto router_port = hub.open(model.config.incarnation, "memory://router");
  RouterHost router(std::move(model), *router_port);

  TRY(const CostModel cost, calibrate(target, kCacheTokens / kBlockTokens));
  const VerifierConfig config = verifier_config(target, cost, tokenizer);
  Verifier verifier(config);
  const auto verifier_port = hub.open(config.process.incarnation);
  const auto no_grammars = [](const auto&) {};  // the config has none, so nothing is asked of one
  ActorLoop<Verifier, VerifyPlan, StepOutput, decltype(no_grammars)> verifier_loop(
      verifier, *verifier_port,
      [&, scratch = VerifyScratch(target)](VerifyPlan& plan) mutable { return verify_job(target, plan, scratch); },
      no_grammars);

  NgramMethod method;
  const Incarnation drafts_as = random_incarnation();  // the connection's incarnation must be the same
  InlineDrafter drafter({.process = {.incarnation = drafts_as, .routers = {"memory://router"}},
                         .fingerprint = tokens,
                         .method = std::string(method.name()),
                         .draft_endpoint = "memory://drafter"},
                        method);
  const auto drafter_port = hub.open(drafts_as, "memory://drafter");
  ActorLoop<InlineDrafter> drafter_loop(drafter, *drafter_port);

  TRY_VOID(router.listen({"127.0.0.1", 0}));
  TRY_VOID(write_port_file(port_file, {{"http", router.address()}}));
  std::jthread verifies([&] { verifier_loop.run(stop.token()); });
  std::jthread drafts([&] { drafter_loop.run(stop.token()); });
  router.run(stop.token(), std::chrono::milliseconds(0));
  return {};
}

}  // namespace
}  // namespace slipstream

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: one_process MODEL_FOLDER THREADS PORT_FILE\n", stderr);
    return 2;
  }
  slipstream::StopSignal stop;
  const auto served = slipstream::serve(argv[1], std::atoi(argv[2]), argv[3], stop);
  if (!served) std::fprintf(stderr, "%s\n", served.error().message.c_str());
  return served ? 0 : 1;
}
