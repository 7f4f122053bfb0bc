// slipstream-verifier: owns the target model and the truth of every sequence it is given. Constructs, connects, runs.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>

#include <fmt/ranges.h>

#include "common/base/endpoint.h"
#include "common/base/log.h"
#include "common/base/stop_signal.h"
#include "common/checkpoint/fingerprint.h"
#include "common/config/port_file.h"
#include "common/config/verifier_config.h"
#include "common/keys/keys.h"
#include "common/kv/block_pool.h"
#include "common/metrics/build_info.h"
#include "common/model/cpu/cpu_device.h"
#include "common/ops_page/node_metrics.h"
#include "common/ops_page/server_metrics.h"
#include "common/ops_page/worker_page.h"
#include "common/runtime/incarnation.h"
#include "common/runtime/node.h"
#include "common/zmq/open_files.h"
#include "common/zmq/zmq_transport.h"
#include "services/verifier/admission.h"
#include "services/verifier/calibrate.h"
#include "services/verifier/farewell.h"
#include "services/verifier/metrics_page.h"
#include "services/verifier/verifier.h"
#include "services/verifier/verify_job.h"

namespace slipstream {
namespace {

using VerifierNode = Node<Verifier, VerifyPlan, Choices>;

void tell(const VerifierConfig& config, int threads, const LanguageModel& target, const LoadReport& load) {
  log_info("{}", load.words());
  log_info(
      "id {:016x}, pid {}: {} on {} threads, context {} (the model's: {}), cache {} tokens in {} MB, routers {}, metrics at {}",
      config.incarnation, config.pid, config.numerics_id, threads, config.context_max, target.config().context_max,
      config.cache_blocks * kBlockTokens, target.cache_bytes() / 1'000'000, fmt::join(config.routers, " "),
      config.metrics_endpoint);
  const auto ms = [&](int32_t behind) {
    const auto of = [&](int32_t rows) { return 1e3 * config.cost.seconds(StepLoad{}.with(rows, behind)); };
    return fmt::format("{:.3}, {:.3}, {:.3} or {:.3} ms", of(1), of(8), of(64), of(256));
  };
  log_info("a step of 1, 8, 64 or 256 rows of one sequence takes {}, behind {} tokens {}", ms(0), kCalibrateContext,
           ms(kCalibrateContext));
}

// The target, on the one device of this process.
Result<LanguageModel> load_target(const VerifierOptions& options, int32_t cache_blocks) {
  TRY(std::shared_ptr<Device> device, make_cpu_device({.threads = static_cast<int>(options.threads_or_quota()),
                                                       .path = cpu_path(options.path),                // "auto" names none
                                                       .weights = weight_format(options.weights)}));  // nor does "file"
  return LanguageModel::load(options.model, device, {.cache_blocks = cache_blocks, .on_load = log_load()});
}

// Times steps of the loaded model, unless the options say what they cost.
Result<CostModel> cost_of_steps(const VerifierOptions& options, LanguageModel& target, int32_t cache_blocks, LoadReport& load) {
  if (options.step_cost_us > 0) return CostModel::fixed(options.step_cost_us * 1e-6);
  const auto began = std::chrono::steady_clock::now();
  TRY(const CostModel cost, calibrate(target, cache_blocks));
  load.trial_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return cost;
}

Result<void> run(const VerifierOptions& options, StopSignal& stop) {
  const int32_t cache_blocks = static_cast<int32_t>(options.cache_tokens) / kBlockTokens;
  TRY(const auto keys, open_keys(options.key, options.peers, "verifier"));
  TRY(auto routers, with_router_keys(options.router, keys));
  log_info("loading {}", options.model);
  TRY(LanguageModel target, load_target(options, cache_blocks));
  TRY(const uint64_t tokenizer, hash_tokenizer(options.model));
  LoadReport load = target.load_report();
  TRY(const CostModel cost, cost_of_steps(options, target, cache_blocks, load));
  TRY(const Endpoint metrics, parse_endpoint(options.metrics));
  const LlamaConfig& model = target.config();

  std::atomic<VerifierNode*> node = nullptr;
  const auto page = [&] {
    Exposition page;
    add_build_info("verifier", target.numerics_id(), page);
    add_load_metrics(load, page);
    if (const VerifierNode* running = node) {
      add_verifier_metrics(running->counters(), page);
      add_node_metrics(running->node_counters(), page);
    }
    return page.text();
  };
  const auto state = [&] {
    if (node == nullptr) return WorkerState::waiting;
    const auto counters = node.load()->counters();
    return worker_state(counters.welcome, counters.draining);
  };
  TRY(http::Server server, serve_worker_page(metrics.host, metrics.port, {"slipstream-verifier", page, state}));
  const std::string address = Endpoint{metrics.host, server.port()}.address();

  const int32_t asked = options.context_max > 0 ? static_cast<int32_t>(options.context_max) : model.context_max;
  const VerifierConfig config{.incarnation = random_incarnation(),
                              .fingerprint = {tokenizer, model.vocabulary, model.eos_ids, target.weights_hash()},
                              .numerics_id = target.numerics_id(),
                              .metrics_endpoint = "http://" + address + "/metrics",
                              .pid = static_cast<uint32_t>(getpid()),
                              .routers = std::move(routers),
                              .cost = cost,
                              .context_max = context_that_fits(std::min(asked, model.context_max), cache_blocks),
                              .cache_blocks = cache_blocks,
                              .wait_share = options.wait_percent / 100.0,
                              .drawn_wait = std::chrono::microseconds(options.drawn_wait_us)};
  TRY(const auto transport, ZmqTransport::open({.self = config.incarnation, .bind = {}, .keys = keys}));
  Verifier verifier(config);
  VerifierNode loop(verifier, *transport,
                    [&, scratch = VerifyScratch()](VerifyPlan& plan) mutable { return verify_job(target, plan, scratch); });
  const http::Server ends_before_loop = std::move(server);  // whose counters its page reads
  node = &loop;
  TRY_VOID(write_port_file(options.port_file, {{"metrics", address}}));
  tell(config, static_cast<int>(options.threads_or_quota()), target, load);
  const auto done = [](const Verifier& v) { return v.counters().live == 0; };
  const std::chrono::milliseconds grace(options.drain_ms);
  VerifierCounters when_told;
  const auto told = [&](const Verifier& v) { log_info("{}", told_to_stop(when_told = v.counters(), grace)); };
  loop.run(stop.token(),
           {.words = From<Drain>{{}, {"the verifier was told to stop"}}, .grace = grace, .done = done, .told = told});
  log_info("{}", stopped(when_told, verifier.counters()));
  return {};
}

}  // namespace
}  // namespace slipstream

int main(int argc, char** argv) {
  using namespace slipstream;
  auto parsed = parse_verifier_options(argc, argv);
  if (const auto* exit = std::get_if<ExitCode>(&parsed)) return exit->value;
  const auto& options = std::get<VerifierOptions>(parsed);
  log_start("verifier", log_level_from(options.log_level).value_or(LogLevel::info));
  allow_open_files();
  StopSignal stop;
  const Result<void> ran = run(options, stop);
  if (!ran) log_error("{}", ran.error().message);
  return ran ? 0 : 1;
}
