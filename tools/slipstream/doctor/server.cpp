#include "tools/slipstream/doctor/server.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/metrics/names.h"

namespace slipstream::command::doctor {
namespace {

std::string count_words(const top::FleetLook& look, std::string_view role) {
  const auto count = std::ranges::count(look.workers, role, &top::WorkerLook::role);
  return fmt::format("{} {}{}", count, role, count == 1 ? "" : "s");
}

Finding check_worker(const top::WorkerLook& worker) {
  const std::string found = fmt::format("{}, pid {}: {}, {}", worker.role, worker.pid, worker.state, worker.what);
  if (worker.state != "ready") return warn("worker", found, "its log says why");
  if (!worker.page)
    return warn("worker", found,
                fmt::format("its metrics at {} cannot be read from here: see --advertise-metrics", worker.metrics));
  return ok("worker", found);
}

}  // namespace

void check_server(const top::FleetLook& look, Findings& findings) {
  if (!look.trouble.empty()) {
    findings.push_back(failed("server", fmt::format("{}: {}", look.url, look.trouble),
                              "start it with `slipstream serve`, or name another with --url"));
    return;
  }
  const std::string found =
      fmt::format("{} serves {}: {}, {}", look.url, look.model, count_words(look, "verifier"), count_words(look, "drafter"));
  const bool serves = std::ranges::count(look.workers, "verifier", &top::WorkerLook::role) > 0;
  findings.push_back(serves
                         ? ok("server", found)
                         : failed("server", found, "requests wait until a verifier has joined: its log says why it has not"));
  for (const top::WorkerLook& worker : look.workers) findings.push_back(check_worker(worker));
}

}  // namespace slipstream::command::doctor
