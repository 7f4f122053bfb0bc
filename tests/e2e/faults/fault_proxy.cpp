// fault_proxy --upstream tcp://127.0.0.1:PORT [--loss 0.05] [--duplicate 0.05] [--reorder 0.05]
// [--spike 0.002]
//             [--cut-every-s 10] [--seed 1] [--port-file FILE] [--tally-file FILE] ...
// A process between the sockets of processes: each connection to it is one of its own to the
// upstream, and every whole message on the way meets with the dice. The port file appears once it
// listens: {"bind": "tcp://...", "pid": ...}. SIGUSR1 writes the tally, SIGTERM too, and ends it.
// For clear traffic only: through CURVE no message can be told from the next.
#include <signal.h>
#include <sys/signalfd.h>

#include <chrono>

#include "common/base/log.h"
#include "common/config/port_file.h"
#include "tests/e2e/faults/fault_options.h"

namespace slipstream::faults {
namespace {

// To be read from, in place of being interrupted.
Socket signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGTERM, SIGINT, SIGUSR1}) sigaddset(&set, number);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  return Socket(signalfd(-1, &set, SFD_CLOEXEC));
}

Result<void> tell(const FaultOptions& options, const Tally& tally) {
  return options.tally_file.empty() ? Result<void>{} : write_tally(options.tally_file, tally);
}

Result<void> run(const FaultOptions& options) {
  const Socket told = signals();
  TRY(const Endpoint listen, parse_endpoint(options.listen));
  TRY(Socket listener, listen_at(listen));
  TRY(const Endpoint bound, bound_endpoint(listener));
  TRY(ProxyPlan plan, options.plan());
  Proxy proxy(std::move(listener), std::move(plan));
  TRY_VOID(write_port_file(options.port_file, {{"bind", bound.tcp()}}));
  log_info("{} stands before {}", bound.tcp(), options.upstream);
  const auto began = std::chrono::steady_clock::now();
  const auto now = [&] { return std::chrono::duration_cast<Time>(std::chrono::steady_clock::now() - began); };
  signalfd_siginfo signal{};
  while (signal.ssi_signo != SIGTERM && signal.ssi_signo != SIGINT) {
    if (!proxy.step(told.fd(), now)) continue;
    if (read(told.fd(), &signal, sizeof signal) == sizeof signal) TRY_VOID(tell(options, proxy.tally()));
  }
  const Counts sum = proxy.tally().sum();
  log_info("{} messages: {} lost, {} doubled, {} overtaken, {} delayed by {} spikes; {} connections, {} of them cut",
           sum.messages, sum.lost, sum.doubled, sum.overtaken, sum.delayed, sum.spikes, proxy.tally().connections,
           proxy.tally().cuts);
  return {};
}

}  // namespace
}  // namespace slipstream::faults

int main(int argc, char** argv) {
  using namespace slipstream;
  using namespace slipstream::faults;
  const auto parsed = parse_fault_options(argc, argv);
  if (const auto* exit = std::get_if<ExitCode>(&parsed)) return exit->value;
  const auto& options = std::get<FaultOptions>(parsed);
  log_start("faults", log_level_from(options.log_level).value_or(LogLevel::info));
  const Result<void> ran = run(options);
  if (!ran) log_error("{}", ran.error().message);
  return ran ? 0 : 1;
}
