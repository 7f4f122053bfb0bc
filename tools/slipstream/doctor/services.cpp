#include "tools/slipstream/doctor/services.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "common/base/names.h"
#include "common/keys/keys.h"
#include "tools/slipstream/fleet_ports.h"
#include "tools/slipstream/process.h"
#include "tools/slipstream/service_log.h"

namespace slipstream::command::doctor {
namespace {

constexpr std::chrono::seconds kCheckMax{20};            // a service reads its flags in milliseconds
constexpr std::chrono::minutes kLoadMax{15};             // of hundreds of gigabytes
constexpr const char* kAnyRouter = "tcp://127.0.0.1:1";  // for workers, which look at its form only

// A new file in the folder for temporary ones, gone at the end.
class ScratchFile {
 public:
  ScratchFile() : path_((std::filesystem::temp_directory_path() / "slipstream-doctor-XXXXXX").string()) {
    if (const int descriptor = mkstemp(path_.data()); descriptor >= 0) close(descriptor);
  }
  ~ScratchFile() { unlink(path_.c_str()); }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  const std::string& path() const { return path_; }
  std::string text() const {
    std::ostringstream text;
    text << std::ifstream(path_).rdbuf();
    return text.str();
  }

 private:
  std::string path_;
};

// Runs the program with one more flag. nullopt: it ended with status 0; else how it ended.
Result<std::optional<std::string>> run(Command command, std::string flag, const ScratchFile& printed,
                                       std::chrono::milliseconds at_most) {
  command.log = printed.path();
  command.arguments.push_back(std::move(flag));
  TRY(auto process, Process::start(command));
  const auto exit = process.wait(at_most);
  if (exit && exit->status == 0 && exit->signal == 0) return std::nullopt;
  return fmt::format("{} {}", command.program.string(), exit ? exit->words() : "does not end");
}

Finding check_one(const std::string& service, const Command& command) {
  const ScratchFile printed;
  const auto wrong = run(command, "--check-config", printed, kCheckMax);
  if (!wrong) return failed(service, wrong.error().message, "build it: make build");
  if (!*wrong) return ok(service, command.program.string() + " takes these settings");
  const std::string problems = problems_in(printed.text(), command.program.filename().string());
  return failed(service, problems.empty() ? **wrong : problems);
}

Finding check_load(const std::string& service, const Command& command) {
  const std::string what = service == "verifier" ? "load" : service + " load";
  const ScratchFile printed;
  const auto wrong = run(command, "--check-load", printed, kLoadMax);
  if (!wrong) return failed(what, wrong.error().message, "build it: make build");
  const std::string said = last_sentence(printed.path(), 0);
  if (!*wrong) return ok(what, said.empty() ? "it loads" : said);
  return failed(what, said.empty() ? **wrong : said);
}

}  // namespace

std::string problems_in(std::string_view printed, std::string_view program) {
  const std::string before = fmt::format("{}: ", program);
  std::string problems;
  for (size_t at = 0; at < printed.size();) {
    const size_t end = std::min(printed.find('\n', at), printed.size());
    const std::string_view line = printed.substr(at, end - at);
    if (line.starts_with(before)) problems += fmt::format("{}{}", problems.empty() ? "" : "; ", line.substr(before.size()));
    at = end + 1;
  }
  return problems;
}

void check_settings(const FleetPlan& plan, Findings& findings) {
  Ports router;
  router.bind = kAnyRouter;
  findings.push_back(check_one("router", plan.router({})));
  findings.push_back(check_one("verifier", plan.verifier(router)));
  if (plan.drafts()) findings.push_back(check_one("drafter", plan.drafter(router)));
}

void check_loads(const FleetPlan& plan, Findings& findings) {
  Ports router;
  router.bind = kAnyRouter;
  findings.push_back(check_load("verifier", plan.verifier(router)));
  if (plan.drafter_has_model()) findings.push_back(check_load("drafter", plan.drafter(router)));
}

Finding check_ports_free(const FleetOptions& options, bool taken_by_ours) {
  if (taken_by_ours) return ok("ports", fmt::format("{} is the running server's", options.port));
  if (const auto free = check_ports(options); !free) return failed("ports", free.error().message);
  return ok("ports", options.port == 0 ? "any free one" : fmt::format("{} is free", options.port));
}

void check_keys(const FleetOptions& options, Findings& findings) {
  const std::string peers = (options.keys / "peers").string();
  for (const std::string service : {"router", "verifier", "drafter"}) {
    if (service == "drafter" && options.drafter == kNoMethod) continue;
    const std::string file = (options.keys / (service + ".key")).string();
    const auto keys = open_keys(file, peers, service);
    findings.push_back(keys ? ok("keys", file + ": a secret, and enrolled") : failed("keys", keys.error().message));
  }
}

}  // namespace slipstream::command::doctor
