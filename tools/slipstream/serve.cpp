#include <chrono>
#include <cstdio>
#include <string>

#include "common/base/host_addresses.h"
#include "tools/slipstream/commands.h"
#include "tools/slipstream/fleet_ports.h"

namespace slipstream::command {
namespace {

constexpr std::chrono::seconds kLook{1};  // between two looks for hanging services

// What a curl line needs to be let in.
std::string key_header(const FleetOptions& options) {
  return options.api_key_file.empty() ? "" : " -H 'authorization: Bearer KEY'";
}

// Who may reach it, unless that is this machine only.
std::string reach_words(const FleetOptions& options) {
  const auto http = http_endpoint(options);
  if (!http || http->loopback()) return "";
  const std::string where =
      http->every_address() ? fmt::format("{} and other addresses of this machine", own_address("")) : http->host;
  return fmt::format("other machines reach it at {}, {}{}\n", where, options.tls_cert.empty() ? "in clear" : "with TLS",
                     options.api_key_file.empty() ? ", and no API key is asked for" : ", with an API key");
}

// Also called by the supervisor's thread. A line that cannot be written is lost.
void say(std::string_view line) {
  const std::string text = std::string(line) + '\n';
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace

Result<void> serve(FleetOptions options, StopSignal& stop) {
  TRY_VOID(check_ports(options));
  say(fmt::format("model {}, logs in {}\n{}", options.model.string(), (options.run_folder / "logs").string(),
                  drafting_words(options)));
  TRY(auto fleet, Fleet::launch(options, stop, say));
  if (const std::string steps = fleet->steps(); !steps.empty()) say(steps);
  say(fmt::format(
      "{}\nready: {}\n{}\n  curl {}/v1/chat/completions{} -H 'content-type: application/json' -d '{}'\n\nCtrl-C stops all.",
      fleet->cpus().words(), fleet->url(), reach_words(options), fleet->url(), key_header(options),
      R"({"messages": [{"role": "user", "content": "Why is the sky blue?"}], "max_tokens": 100})"));
  while (!stop.arrived(kLook)) fleet->end_who_hangs(say);
  say(fmt::format("stopping: answers under way may go on for {:g} s (--drain-ms); a second Ctrl-C ends them at once",
                  std::chrono::duration<double>(fleet->drain()).count()));
  fleet->finish_answers();
  return {};
}

}  // namespace slipstream::command
