// scripted_drafter --script NAME --model DIR --router tcp://HOST:PORT [--bind tcp://127.0.0.1:0]
// [--port-file FILE] ...
//   random     valid random trees up to the budget                           [--seed N]
//   oracle     the right continuation, as a chain of the full budget: of what was asked before, with equal parameters, and of
//              what a file tells                                              [--answers FILE] (JSON: oracle_method.h)
//   useless    full useless trees, --margin-us (500) before each deadline
//   late       the same, --margin-us after each deadline
//   endless    at whose port a message without an end awaits each verifier (hostile_port.h)
//   deaf       that attaches, and never reads what a verifier sends
//   malformed  everything wrong that there is, in turn (mischief.cpp)         [--mischief NAME] [--seed N]
// The port file appears once it is bound: {"bind": "tcp://...", "pid": ...}. SIGTERM ends it.
// `malformed` starts a new life, at a new port, after each kStrikesMax pieces of mischief, and says
// on stderr how far it is.
#include <algorithm>
#include <memory>
#include <stop_token>
#include <utility>

#include "common/base/endpoint.h"
#include "common/base/log.h"
#include "common/base/stop_signal.h"
#include "common/config/port_file.h"
#include "common/runtime/actor_loop.h"
#include "common/runtime/incarnation.h"
#include "common/zmq/zmq_transport.h"
#include "services/drafter/inline_drafter.h"
#include "services/drafter/model_folder.h"
#include "tests/e2e/scripted/delayed_drafter.h"
#include "tests/e2e/scripted/hostile_port.h"
#include "tests/e2e/scripted/hostile_transport.h"
#include "tests/e2e/scripted/oracle_method.h"
#include "tests/e2e/scripted/random_method.h"
#include "tests/e2e/scripted/scripted_options.h"
#include "tests/e2e/scripted/useless_method.h"

namespace slipstream {
namespace {

Result<std::unique_ptr<Method>> make_method(const ScriptedOptions& options, int32_t vocabulary) {
  if (options.script == "oracle") {
    std::vector<KnownAnswer> answers;
    if (!options.answers.empty()) {
      TRY(answers, read_answers(options.answers));
    }
    return std::make_unique<OracleMethod>(std::move(answers));
  }
  if (options.script == "useless" || options.script == "late") return std::make_unique<UselessMethod>(vocabulary);
  return std::make_unique<RandomMethod>(vocabulary, options.seed);
}

DrafterConfig config_of(const ScriptedOptions& options, const Fingerprint& fingerprint, const Method& method) {
  return {.process = {.incarnation = random_incarnation(), .routers = options.drafter.router},
          .fingerprint = fingerprint,
          .method = std::string(method.name())};
}

Result<void> tell_ready(const ScriptedOptions& options, const std::string& endpoint) {
  log_info("{} at {}", options.script, endpoint);
  return write_port_file(options.drafter.port_file, {{"bind", endpoint}});
}

From<Drain> drain() { return {{}, {"the script ends"}}; }

Result<void> run_honest(const ScriptedOptions& options, DrafterConfig config, Method& method, std::stop_token stop) {
  TRY(const Endpoint bind, parse_endpoint(options.drafter.bind));
  TRY(const auto transport, ZmqTransport::open({.self = config.process.incarnation, .bind = bind.tcp()}));
  config.draft_endpoint = options.drafter.advertise.empty() ? transport->bound_endpoint() : options.drafter.advertise;
  TRY_VOID(tell_ready(options, transport->bound_endpoint()));
  if (options.script == "useless" || options.script == "late") {
    const Time margin(options.margin_us);
    DelayedDrafter drafter(config, options.script == "late" ? margin : -margin);
    ActorLoop<DelayedDrafter, DraftPlan, Drafts>(drafter, *transport, [&](DraftPlan& plan) {
      return run_draft(method, plan);
    }).run(stop, {.drain = drain()});
  } else {
    InlineDrafter drafter(config, method);
    ActorLoop<InlineDrafter>(drafter, *transport).run(stop, {.drain = drain()});
  }
  return {};
}

// To its routers a drafter like others; but the port that it names is another.
Result<void> run_behind_hostile_port(const ScriptedOptions& options, DrafterConfig config, Method& method,
                                     std::stop_token stop) {
  std::optional<Attached> attached;
  if (options.script == "deaf") {
    attached = Attached{.drafter = config.process.incarnation, .fingerprint = config.fingerprint, .method = config.method};
  }
  const HostilePort port(std::move(attached));
  TRY(const auto transport, ZmqTransport::open({.self = config.process.incarnation, .bind = {}}));
  config.draft_endpoint = port.endpoint();
  TRY_VOID(tell_ready(options, config.draft_endpoint));
  InlineDrafter drafter(std::move(config), method);
  ActorLoop<InlineDrafter>(drafter, *transport).run(stop, {.drain = drain()});
  return {};
}

// One life: until it has done kStrikesMax pieces of mischief, or the process ends.
Result<void> run_hostile_life(const ScriptedOptions& options, DrafterConfig config, Method& method,
                              HostileTransport::Plot& plot, std::stop_token stop) {
  TRY(const auto raw, RawTransport::open(config.process.incarnation, "tcp://127.0.0.1:*"));
  config.draft_endpoint = raw->bound_endpoint();
  plot.context.self = config.process.incarnation;
  std::stop_source life;
  std::stop_callback both(stop, [&] { life.request_stop(); });
  HostileTransport transport(*raw, plot, [&] { life.request_stop(); });
  TRY_VOID(tell_ready(options, config.draft_endpoint));
  InlineDrafter drafter(std::move(config), method);
  ActorLoop<InlineDrafter>(drafter, transport).run(life.get_token(), {.drain = drain()});
  log_info("{} pieces of mischief so far", plot.next_mischief);
  return {};
}

Result<void> run(const ScriptedOptions& options, StopSignal& stop) {
  TRY(const Fingerprint fingerprint, read_token_fingerprint(options.drafter.model));
  TRY(const auto method, make_method(options, fingerprint.vocabulary));
  if (options.script == "endless" || options.script == "deaf") {
    return run_behind_hostile_port(options, config_of(options, fingerprint, *method), *method, stop.token());
  }
  if (options.script != "malformed") {
    return run_honest(options, config_of(options, fingerprint, *method), *method, stop.token());
  }
  std::span<const Mischief> mischief = all_mischief();
  if (const auto one = std::ranges::find(mischief, options.mischief, &Mischief::name); one != mischief.end()) {
    mischief = mischief.subspan(static_cast<size_t>(one - mischief.begin()), 1);
  }
  HostileTransport::Plot plot{.mischief = mischief,
                              .context = {.vocabulary = fingerprint.vocabulary, .random = std::mt19937_64(options.seed)}};
  while (!stop.token().stop_requested()) {
    TRY_VOID(run_hostile_life(options, config_of(options, fingerprint, *method), *method, plot, stop.token()));
  }
  return {};
}

}  // namespace
}  // namespace slipstream

int main(int argc, char** argv) {
  using namespace slipstream;
  auto parsed = parse_scripted_options(argc, argv);
  if (const auto* exit = std::get_if<ExitCode>(&parsed)) return exit->value;
  const auto& options = std::get<ScriptedOptions>(parsed);
  log_start("scripted", log_level_from(options.drafter.log_level).value_or(LogLevel::info));
  StopSignal stop;
  const Result<void> ran = run(options, stop);
  if (!ran) log_error("{}", ran.error().message);
  return ran ? 0 : 1;
}
