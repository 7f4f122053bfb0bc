#include "tools/slipstream/serve.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <string>
#include <system_error>

namespace slipstream::command {
namespace {

constexpr std::chrono::seconds kLook{1};  // between two looks at who answers

// Asked before anything starts, so that the answer is one sentence and not the end of a log.
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

// The supervisor's thread calls this, too. A line that cannot be written is lost.
void say(std::string_view line) {
  const std::string text = std::string(line) + '\n';
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace

Result<std::filesystem::path> find_model(const std::filesystem::path& model) {
  std::error_code ignored;
  const auto there = [&](const std::filesystem::path& at) {
    return std::filesystem::exists(at / "config.json", ignored) || std::filesystem::is_regular_file(at, ignored);
  };
  if (there(model)) return model;
  if (std::filesystem::is_directory(model, ignored)) {
    return fail("{} holds no config.json, so it is no model folder; give a Hugging Face folder or a GGUF file with --model",
                model.string());
  }
  for (auto at = this_program().parent_path(); model.is_relative() && at.has_relative_path(); at = at.parent_path()) {
    if (there(at / model)) return at / model;
  }
  return fail(
      "there is no model in {}; fetch the demo model with `make setup`, or give a Hugging Face folder or a GGUF file with "
      "--model",
      model.string());
}

Result<void> serve(FleetOptions options, StopSignal& stop) {
  TRY(options.model, find_model(options.model));
  TRY_VOID(check_port(options.port));
  say(fmt::format("model {}, logs in {}\n{}", options.model.string(), (options.run_folder / "logs").string(),
                  drafting_words(options)));
  TRY(auto fleet, Fleet::launch(std::move(options), stop, say));
  say(fmt::format(
      "{}\nready: {}\n\n  curl {}/v1/chat/completions -H 'content-type: application/json' -d '{}'\n\nCtrl-C stops all.",
      fleet->division().words(), fleet->url(), fleet->url(),
      R"({"messages": [{"role": "user", "content": "Why is the sky blue?"}], "max_tokens": 100})"));
  while (!stop.arrived(kLook)) fleet->end_who_hangs(say);
  say("stopping");
  return {};
}

}  // namespace slipstream::command
