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

// Tests the port before anything starts, so that the user gets one sentence instead of the end of a
// log. SO_REUSEADDR makes connections in TIME_WAIT not count, as for the server itself.
Result<void> check_port(uint16_t port) {
  const int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(probe, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int error = bind(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ? 0 : errno;
  close(probe);
  if (error == EADDRINUSE) return fail("port {} is in use; choose another with --port N, or any free one with --port 0", port);
  if (error == EACCES) return fail("port {} needs more rights than this user has; choose one from 1024 up with --port N", port);
  return {};
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
  TRY_VOID(check_port(options.port));
  say(fmt::format("model {}, logs in {}\n{}", options.model.string(), (options.run_folder / "logs").string(),
                  drafting_words(options)));
  TRY(auto fleet, Fleet::launch(std::move(options), stop, say));
  say(fmt::format(
      "{}\nready: {}\n\n  curl {}/v1/chat/completions -H 'content-type: application/json' -d '{}'\n\nCtrl-C stops all.",
      fleet->cpus().words(), fleet->url(), fleet->url(),
      R"({"messages": [{"role": "user", "content": "Why is the sky blue?"}], "max_tokens": 100})"));
  while (!stop.arrived(kLook)) fleet->end_who_hangs(say);
  say("stopping");
  return {};
}

}  // namespace slipstream::command
