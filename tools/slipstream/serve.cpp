#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <string>

#include "tools/slipstream/commands.h"

namespace slipstream::command {
namespace {

constexpr std::chrono::seconds kLook{1};  // between two looks for hanging services

// Tests an address before anything starts, so that the user gets one sentence instead of the end of
// a log. SO_REUSEADDR makes connections in TIME_WAIT not count, as for the server itself.
Result<void> check_free(const Endpoint& at, std::string_view flag) {
  sockaddr_storage address{};
  socklen_t size = 0;
  if (auto& v4 = reinterpret_cast<sockaddr_in&>(address); inet_pton(AF_INET, at.host.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(at.port);
    size = sizeof v4;
  } else if (auto& v6 = reinterpret_cast<sockaddr_in6&>(address); inet_pton(AF_INET6, at.host.c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(at.port);
    size = sizeof v6;
  } else {
    return fail("--host {} is a name; write an address of this machine, or 0.0.0.0 for all of them", at.host);
  }
  const int probe = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(probe, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const int error = bind(probe, reinterpret_cast<const sockaddr*>(&address), size) == 0 ? 0 : errno;
  close(probe);
  if (error == EADDRINUSE)
    return fail("port {} is in use; choose another with {} N, or any free one with {} 0", at.port, flag, flag);
  if (error == EACCES)
    return fail("port {} needs more rights than this user has; choose one from 1024 up with {} N", at.port, flag);
  if (error == EADDRNOTAVAIL) return fail("--host {} is no address of this machine; 0.0.0.0 stands for all of them", at.host);
  return {};
}

Result<void> check_ports(const FleetOptions& options) {
  TRY(const Endpoint http, http_endpoint(options));
  TRY_VOID(check_free(http, "--port"));
  TRY_VOID(check_free(metrics_endpoint(options, "verifier"), "--metrics-port"));
  return check_free(metrics_endpoint(options, "drafter"), "--metrics-port");
}

// What a curl line needs to be let in.
std::string key_header(const FleetOptions& options) {
  return options.api_key_file.empty() ? "" : " -H 'authorization: Bearer KEY'";
}

// Who may reach it, unless that is this machine only.
std::string reach_words(const FleetOptions& options) {
  const auto http = http_endpoint(options);
  if (!http || http->loopback()) return "";
  return fmt::format("other machines reach it at {}, {}{}\n", http->host, options.tls_cert.empty() ? "in clear" : "with TLS",
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
  TRY(options.model, find_model(options.model));
  TRY_VOID(check_ports(options));
  say(fmt::format("model {}, logs in {}\n{}", options.model.string(), (options.run_folder / "logs").string(),
                  drafting_words(options)));
  TRY(auto fleet, Fleet::launch(options, stop, say));
  say(fmt::format(
      "{}\nready: {}\n{}\n  curl {}/v1/chat/completions{} -H 'content-type: application/json' -d '{}'\n\nCtrl-C stops all.",
      fleet->cpus().words(), fleet->url(), reach_words(options), fleet->url(), key_header(options),
      R"({"messages": [{"role": "user", "content": "Why is the sky blue?"}], "max_tokens": 100})"));
  while (!stop.arrived(kLook)) fleet->end_who_hangs(say);
  say("stopping");
  return {};
}

}  // namespace slipstream::command
