#include "tools/slipstream/fleet.h"

#include <chrono>
#include <csignal>
#include <optional>
#include <system_error>
#include <utility>

#include "common/config/settings.h"
#include "common/http/stuck_status.h"
#include "tools/slipstream/service_log.h"

namespace slipstream::command {
namespace {

constexpr std::chrono::milliseconds kLook{20};  // pause between two checks of a condition while starting
constexpr std::chrono::seconds kStartMax{120};  // for each service to bind its ports, and for all to be ready
constexpr std::chrono::milliseconds kProbeTimeout{2000};
constexpr std::chrono::milliseconds kLookTimeout{500};    // of a look that detects a hang
constexpr std::chrono::milliseconds kGlanceTimeout{200};  // of a probe in the supervisor's thread, which must not wait long
constexpr std::string_view kServices[] = {"router", "verifier", "drafter"};

bool says_yes(http::Client client, const char* path) {
  const auto reply = client.get(path);
  return reply && reply->status == 200;
}

}  // namespace

Fleet::Fleet(FleetPlan plan, Supervisor::Say say) : plan_(std::move(plan)), supervisor_(std::move(say)) {}

Fleet::~Fleet() {
  supervisor_.stop();
  std::error_code ignored;
  for (std::string_view service : kServices) std::filesystem::remove(files().port_file(service), ignored);
}

Result<std::unique_ptr<Fleet>> Fleet::launch(FleetOptions options, StopSignal& stop, Supervisor::Say say) {
  TRY(FleetPlan plan, FleetPlan::make(std::move(options)));
  TRY_VOID(plan.run_folder().prepare());
  std::unique_ptr<Fleet> fleet(new Fleet(std::move(plan), std::move(say)));
  TRY_VOID(fleet->start(stop));
  return fleet;
}

Result<void> Fleet::start(StopSignal& stop) {
  supervisor_.restart_nobody();  // a service that cannot start must not be restarted for ever
  TRY(router_, start_one(stop, "router", plan_.router({})));
  // A restarted router must bind the same ports, since the workers look for it there.
  supervisor_.next_life("router", plan_.router(router_));
  TRY_VOID(start_one(stop, "verifier", plan_.verifier(router_)));
  if (drafts()) TRY_VOID(start_one(stop, "drafter", plan_.drafter(router_)));
  TRY_VOID(await(stop, "the router's /ready", [this] { return ready(); }));
  supervisor_.restart_all();
  return {};
}

Result<Ports> Fleet::start_one(StopSignal& stop, const std::string& service, Command command) {
  std::error_code ignored;
  std::filesystem::remove(files().port_file(service), ignored);
  std::filesystem::remove(command.log, ignored);
  TRY_VOID(supervisor_.start(service, std::move(command), [this, service](pid_t pid) { return serves(service, pid); }));
  std::optional<Ports> ports;
  TRY_VOID(await(stop, service + "'s ports", [&] { return (ports = read_ports(files().port_file(service))).has_value(); }));
  return *ports;
}

Result<void> Fleet::await(StopSignal& stop, std::string_view what, const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + kStartMax;
  while (!condition()) {
    for (std::string_view service : kServices) {
      // A service that has ended once cannot become ready: restarts are off during the start.
      if (const Supervisor::Life life = supervisor_.life(service); life.last) {
        Error error{fmt::format("the {} {} while starting{}; the end of {}:{}", service, life.last->words(),
                                life.why.empty() ? "" : ": " + life.why, files().log(service).string(),
                                log_tail(files().log(service)))};
        error.passing = life.last->status != kExitUsage;
        return std::unexpected(std::move(error));
      }
    }
    if (std::chrono::steady_clock::now() > deadline) {
      return fail_for_now("waited {} s for {}; the logs in {} may say why", kStartMax.count(), what, files().logs().string());
    }
    if (stop.arrived(kLook)) return fail_for_now("stopped while starting");
  }
  return {};
}

std::string Fleet::log_tails() const {
  std::string text;
  for (std::string_view service : kServices)
    text += fmt::format("\n{}:{}", files().log(service).string(), log_tail(files().log(service)));
  return text;
}

std::string Fleet::steps() const { return sentence_that_begins(files().log("verifier"), "a step of "); }

std::string Fleet::url() const {
  return (plan_.https() ? "https://" : "http://") + Endpoint{plan_.host_of("router"), router_.http}.address();
}

http::Client Fleet::client(std::string_view service, const Ports& ports, std::chrono::milliseconds at_most) const {
  const bool router = service == "router";
  http::Client client(plan_.host_of(service), router ? ports.http : ports.metrics, at_most);
  // Its certificate need not name loopback; the process is our own. This reads no file, so it
  // succeeds.
  if (router && plan_.https()) (void)client.use_tls({.any = true});
  return client;
}

bool Fleet::ready() const { return says_yes(client("router", router_, kProbeTimeout), "/ready"); }

bool Fleet::serves(std::string_view service, pid_t pid) const {
  const auto ports = read_ports(files().port_file(service));
  // The port file must be of this process: after a restart it may still be the one of the previous
  // life.
  if (!ports || ports->pid != pid) return false;
  // The router's /ready depends on the verifier.
  return says_yes(client(service, *ports, kGlanceTimeout), service == "router" ? "/health" : "/ready");
}

// Most answers say that it gets on, even an error or a closed connection, since an overloaded
// service may close connections. Silence until the timeout does not, and neither does a 500.
std::string Fleet::why_stuck(std::string_view service, const Ports& ports) const {
  const auto began = std::chrono::steady_clock::now();
  const auto reply = client(service, ports, kLookTimeout).get("/health");
  if (reply) return reply->status == http::kStuckStatus ? "it says: " + reply->body.substr(0, reply->body.find('\n')) : "";
  return std::chrono::steady_clock::now() - began < kLookTimeout ? "" : "it answers nothing";
}

void Fleet::end_who_hangs(const Supervisor::Say& say) {
  for (const std::string_view name : kServices) {
    const std::string service(name);
    const pid_t pid = supervisor_.life(service).pid;
    const auto ports = read_ports(files().port_file(service));
    if (!ports || ports->pid != pid) continue;  // the service is dead or still starting
    const std::string why = why_stuck(service, *ports);
    if (!hangs_.hangs(service, pid, why.empty())) continue;
    say(fmt::format("the {} (pid {}) hangs: it was stuck in each of the last {} looks, and {}; it is killed (log: {})", service,
                    pid, kHangLooks, why, files().log(service).string()));
    supervisor_.signal(service, SIGKILL);
  }
}

void Fleet::finish_answers() {
  supervisor_.retire("router");
  (void)supervisor_.await_end("router", drain() + kStopGrace);  // if it still runs then, ~Fleet() ends it
}

bool Fleet::drafter_joined() const {
  const Supervisor::Life life = supervisor_.life("drafter");
  return life.pid > 0 &&
         serves("drafter", life.pid);  // asks the drafter itself: the router may not know yet that the previous one died
}

}  // namespace slipstream::command
