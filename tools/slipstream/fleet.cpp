#include "tools/slipstream/fleet.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <deque>
#include <fstream>
#include <optional>
#include <system_error>

#include "common/config/cpu_quota.h"
#include "common/config/router_config.h"
#include "common/config/verifier_config.h"
#include "common/http/client.h"

namespace slipstream::command {
namespace {

constexpr std::chrono::milliseconds kLook{20};  // between two looks at a condition while starting
constexpr std::chrono::seconds kStartMax{120};  // for each service to bind its ports, and for all to be ready
constexpr std::chrono::milliseconds kProbeTimeout{2000};
constexpr std::chrono::milliseconds kLookTimeout{500};    // of one that tells who hangs
constexpr std::chrono::milliseconds kGlanceTimeout{200};  // of a probe that others wait for
constexpr std::string_view kServices[] = {"router", "verifier", "drafter"};
constexpr size_t kLogTailLines = 12;
constexpr uint32_t kModelDeadlineUs = 200'000;

std::string tail(const std::filesystem::path& log) {
  std::ifstream file(log);
  std::deque<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    lines.push_back(std::move(line));
    if (lines.size() > kLogTailLines) lines.pop_front();
  }
  std::string text;
  for (const std::string& line : lines) text += "\n  | " + line;
  return text;
}

// Files of earlier fleets of this name, "NAME-PID-...", whose process is gone.
void remove_files_of_the_dead(const std::filesystem::path& folder, const std::string& name) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string file = entry.path().filename().string();
    if (!file.starts_with(name + "-")) continue;
    const char *begin = file.data() + name.size() + 1, *end = file.data() + file.size();
    pid_t pid = 0;
    const auto number = std::from_chars(begin, end, pid);
    if (number.ec != std::errc{} || number.ptr == end || *number.ptr != '-') continue;
    if (kill(pid, 0) != 0 && errno == ESRCH) std::filesystem::remove(entry.path(), ignored);
  }
}

Division divide(const FleetOptions& options) {
  const int cpus = options.cpus > 0 ? options.cpus : cpu_quota();
  return options.drafter == kSmallLm ? Division::with_draft_model(cpus) : Division::of(cpus);
}

bool says_yes(uint16_t port, const char* path, std::chrono::milliseconds at_most) {
  http::Client client("127.0.0.1", port, at_most);
  const auto reply = client.get(path);
  return reply && reply->status == 200;
}

}  // namespace

uint32_t deadline_of(const FleetOptions& options) {
  return options.deadline_us.value_or(options.drafter == kSmallLm ? kModelDeadlineUs : RouterOptions().deadline_us);
}

std::vector<std::string> router_flags(const FleetOptions& options) {
  std::vector<std::string> flags{"--deadline-us", std::to_string(deadline_of(options))};
  flags.insert(flags.end(), {"--trust", options.keys.empty() ? "local" : "drafter"});  // they are all our own
  if (!options.rules.empty()) flags.insert(flags.end(), {"--rules", options.rules});
  return flags;
}

std::string drafting_words(const FleetOptions& options) {
  if (options.drafter == kNoDrafter) return "no drafter: all is decoded plainly";
  return fmt::format(
      "drafter {}: a step waits {:g} ms for a tree at most (--deadline-us), and only while waiting pays (beside what drafts "
      "save, "
      "{} % of the time computed: --wait-percent); its probabilities are trusted, as it is our own",
      options.drafter, deadline_of(options) / 1000.0, options.wait_percent.value_or(VerifierOptions().wait_percent));
}

Fleet::Fleet(FleetOptions options, ServicePrograms programs, Supervisor::Say say)
    : options_(std::move(options)), programs_(std::move(programs)), division_(divide(options_)), supervisor_(std::move(say)) {}

Fleet::~Fleet() {
  supervisor_.stop();
  std::error_code ignored;
  for (std::string_view service : kServices) std::filesystem::remove(port_file(service), ignored);
}

Result<std::unique_ptr<Fleet>> Fleet::launch(FleetOptions options, StopSignal& stop, Supervisor::Say say) {
  TRY(ServicePrograms programs, ServicePrograms::find());
  for (const char* folder : {"logs", "ports"}) {
    std::error_code error;
    std::filesystem::create_directories(options.run_folder / folder, error);
    if (error) return fail("cannot make {}: {}", (options.run_folder / folder).string(), error.message());
    remove_files_of_the_dead(options.run_folder / folder, options.name);
  }
  std::unique_ptr<Fleet> fleet(new Fleet(std::move(options), std::move(programs), std::move(say)));
  TRY_VOID(fleet->start(stop));
  return fleet;
}

Result<void> Fleet::start(StopSignal& stop) {
  supervisor_.restart_nobody();  // what cannot start must not be tried for ever
  TRY(router_, start_one(stop, "router", router_command({})));
  supervisor_.next_life("router", router_command(router_));  // the workers come back to the same port
  Command verifier = command("verifier", programs_.verifier);
  verifier.arguments.insert(verifier.arguments.end(), {"--threads", std::to_string(division_.verifier_threads), "--weights",
                                                       options_.weights, "--drain-ms", "0"});
  if (options_.wait_percent) {
    verifier.arguments.insert(verifier.arguments.end(), {"--wait-percent", std::to_string(*options_.wait_percent)});
  }
  TRY_VOID(start_one(stop, "verifier", verifier));
  if (options_.drafter != kNoDrafter) {
    Command drafter = command("drafter", programs_.drafter);
    drafter.arguments.insert(drafter.arguments.end(), {"--method", options_.drafter});
    if (options_.drafter == kSmallLm) {
      drafter.arguments.insert(drafter.arguments.end(),
                               {"--threads", std::to_string(division_.drafter_threads), "--weights", options_.weights});
    }
    if (!options_.draft_model.empty()) {
      drafter.arguments.insert(drafter.arguments.end(), {"--draft-model", options_.draft_model.string()});
    }
    TRY_VOID(start_one(stop, "drafter", drafter));
  }
  TRY_VOID(await(stop, "the router's /ready", [this] { return ready(); }));
  supervisor_.restart_all();
  return {};
}

Result<Ports> Fleet::start_one(StopSignal& stop, const std::string& service, Command command) {
  std::error_code ignored;
  std::filesystem::remove(port_file(service), ignored);
  std::filesystem::remove(command.log, ignored);
  TRY_VOID(supervisor_.start(service, std::move(command), [this, service](pid_t pid) { return serves(service, pid); }));
  std::optional<Ports> ports;
  TRY_VOID(await(stop, service + "'s ports", [&] { return (ports = read_ports(port_file(service))).has_value(); }));
  return *ports;
}

Result<void> Fleet::await(StopSignal& stop, std::string_view what, const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + kStartMax;
  while (!condition()) {
    for (std::string_view service : kServices) {
      if (const Supervisor::Life life = supervisor_.life(service); life.last) {
        return fail("the {} {} while starting{}; the end of {}:{}", service, life.last->words(),
                    life.why.empty() ? "" : ": " + life.why, log(service).string(), tail(log(service)));
      }
    }
    if (std::chrono::steady_clock::now() > deadline) {
      return fail("waited {} s for {}; the logs in {} may say why", kStartMax.count(), what,
                  (options_.run_folder / "logs").string());
    }
    if (stop.arrived(kLook)) return fail("stopped while starting");
  }
  return {};
}

Command Fleet::command(std::string_view service, const std::filesystem::path& program) const {
  Command command{program,
                  {"--model", options_.model.string(), "--router", router_.bind, "--port-file", port_file(service).string()},
                  {},
                  log(service)};
  add_keys(service, command);
  return command;
}

Command Fleet::router_command(const Ports& ports) const {
  const int http = ports.http != 0 ? ports.http : options_.port;
  const std::string bind = ports.bind.empty() ? "tcp://127.0.0.1:0" : ports.bind;
  Command router{programs_.router,
                 {"--model", options_.model.string(), "--http", fmt::format("127.0.0.1:{}", http), "--bind", bind, "--drain-ms",
                  "0", "--port-file", port_file("router").string()},
                 {},
                 log("router")};
  const std::vector<std::string> flags = router_flags(options_);
  router.arguments.insert(router.arguments.end(), flags.begin(), flags.end());
  add_keys("router", router);
  return router;
}

void Fleet::add_keys(std::string_view service, Command& command) const {
  if (options_.keys.empty()) return;
  command.arguments.insert(command.arguments.end(), {"--key", (options_.keys / fmt::format("{}.key", service)).string(),
                                                     "--peers", (options_.keys / "peers").string()});
}

std::filesystem::path Fleet::port_file(std::string_view service) const {
  return options_.run_folder / "ports" / fmt::format("{}-{}-{}.json", options_.name, getpid(), service);
}

std::filesystem::path Fleet::log(std::string_view service) const {
  return options_.run_folder / "logs" / fmt::format("{}-{}-{}.log", options_.name, getpid(), service);
}

std::string Fleet::log_tails() const {
  std::string text;
  for (std::string_view service : kServices) text += fmt::format("\n{}:{}", log(service).string(), tail(log(service)));
  return text;
}

std::string Fleet::url() const { return fmt::format("http://127.0.0.1:{}", router_.http); }

bool Fleet::ready() const { return says_yes(router_.http, "/ready", kProbeTimeout); }

bool Fleet::serves(std::string_view service, pid_t pid) const {
  const auto ports = read_ports(port_file(service));
  if (!ports || ports->pid != pid) return false;
  if (service == "router") return says_yes(ports->http, "/health", kGlanceTimeout);  // its /ready is the verifier's business
  return says_yes(ports->metrics, "/ready", kGlanceTimeout);
}

// Whatever it answers; to hang up is an answer, too, which who is overrun gives.
bool Fleet::answers(std::string_view service, const Ports& ports) const {
  const auto began = std::chrono::steady_clock::now();
  http::Client client("127.0.0.1", service == "router" ? ports.http : ports.metrics, kLookTimeout);
  return client.get("/ready") || std::chrono::steady_clock::now() - began < kLookTimeout;
}

void Fleet::end_who_hangs(const Supervisor::Say& say) {
  for (const std::string_view name : kServices) {
    const std::string service(name);
    const pid_t pid = supervisor_.life(service).pid;
    const auto ports = read_ports(port_file(service));
    if (!ports || ports->pid != pid) continue;  // dead, or it still starts
    if (!hangs_.hangs(service, pid, answers(service, *ports))) continue;
    say(fmt::format("the {} (pid {}) hangs: it runs, and has answered none of the last {} looks; it is killed (log: {})",
                    service, pid, kHangLooks, log(service).string()));
    supervisor_.signal(service, SIGKILL);
  }
}

bool Fleet::drafter_joined() const {
  const Supervisor::Life life = supervisor_.life("drafter");
  return life.pid > 0 && serves("drafter", life.pid);  // by itself: the router may not know yet that one died
}

}  // namespace slipstream::command
