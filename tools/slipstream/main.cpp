// The `slipstream` command. It starts the services as processes and speaks HTTP to them; it
// contains none of them.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/base/build_info.h"
#include "common/config/settings.h"
#include "common/config/subcommands.h"
#include "tools/slipstream/chat/chat.h"
#include "tools/slipstream/commands.h"
#include "tools/slipstream/completion/scripts.h"
#include "tools/slipstream/completion/words.h"
#include "tools/slipstream/doctor/doctor.h"
#include "tools/slipstream/flags.h"
#include "tools/slipstream/fleet_options.h"
#include "tools/slipstream/load/flags.h"
#include "tools/slipstream/top/top.h"
#include "tools/slipstream/verify/verify_lossless.h"

namespace slipstream::command {
namespace {

constexpr int kExitWordsDiffer = 1;

int failed(const Error& error, int status = kExitFailure) {
  std::fflush(stdout);
  fmt::print(stderr, "slipstream: {}\n", error.message);
  return status;
}

int status_of(const Result<void>& outcome) { return outcome ? 0 : failed(outcome.error()); }

// As of a service: 2 tells what supervises the command that trying again would end in the same way.
int run_serve(const FleetOptions& asked) {
  StopSignal stop{SIGHUP};  // before any thread starts: threads inherit its signal mask
  auto model = find_model(asked.model);
  if (!model) return failed(model.error(), kExitUsage);
  FleetOptions options = asked;
  options.model = *std::move(model);
  const auto served = serve(options, stop);
  return served ? 0 : failed(served.error(), exit_code_of(served.error()));
}

int run_demo(const DemoOptions& options) {
  StopSignal stop{SIGHUP};
  const auto shown = demo(options, stop);
  if (!shown) return failed(shown.error());
  return *shown ? 0 : kExitWordsDiffer;
}

int run_load(const load::LoadOptions& options) {
  StopSignal stop{SIGHUP};
  return status_of(load::run_load(options, stop));
}

int run_verify(const verify::VerifyOptions& options) {
  const auto verdict = verify::verify_lossless(options);
  return verdict ? static_cast<int>(*verdict) : failed(verdict.error(), kExitUsage);  // could not tell
}

int run_doctor(const doctor::DoctorOptions& options) { return doctor::examine(options) ? 0 : kExitFailure; }

template <class Options>
int run_parsed(const Parsed<Options>& parsed, int (*run)(const Options&)) {
  if (const auto* exit = std::get_if<ExitCode>(&parsed)) return exit->value;
  return run(std::get<Options>(parsed));
}

// Runs a command that takes its settings as the services do; nullopt: it is another one.
std::optional<int> run_fleet(int argc, char** argv) {
  const std::string_view command = argc > 1 ? argv[1] : "";
  if (command == "serve") return run_parsed(parse_serve_options(argc - 1, argv + 1), run_serve);
  if (command == "demo") return run_parsed(parse_demo_options(argc - 1, argv + 1), run_demo);
  if (command == "doctor") return run_parsed(parse_doctor_options(argc - 1, argv + 1), run_doctor);
  return std::nullopt;
}

// All subcommands: what each is called, and what it does once its flags are parsed.
class CommandTable {
 public:
  CommandTable() : app_("Slipstream: a large language model served faster by letting others guess ahead.") {
    app_.require_subcommand(0, 1);
    app_.set_version_flag("--version", build_summary());
    // For the list of commands only: run_fleet() has run these.
    app_.add_subcommand("serve", "Start router, verifier and drafter on this machine and keep them alive");
    app_.add_subcommand("demo", "Show it: two questions, a killed drafter, the same words");
    app_.add_subcommand("doctor", "Would `serve` work here? What to do if not");
    add(ask_flags(app_, asking_), [this] { return status_of(ask_command(asking_)); });
    add(chat::chat_flags(app_, chatting_), [this] { return status_of(chat::run_chat(chatting_)); });
    add(top::top_flags(app_, watching_), [this] { return status_of(top::run_top(watching_)); });
    add(new_keys_flags(app_, keys_), [this] { return status_of(make_keys(keys_)); });
    add(corpus_flags(app_, collecting_), [this] { return status_of(make_corpus(collecting_)); });
    add(verify_flags(app_, verifying_), [this] { return run_verify(verifying_); });
    add(load::load_flags(app_, loading_), [this] { return run_load(loading_); });
    add(completion::completion_flags(app_, shell_), [this] { return print_completion(); });
  }

  int run(int argc, char** argv) {
    if (const auto exit = parse_subcommand(app_, argc, argv, "slipstream")) return *exit;
    for (const auto& [app, run] : commands_) {
      if (app->parsed()) return run();
    }
    if (!app_.get_subcommands().empty()) return kExitUsage;  // `serve` or the like behind a flag
    fmt::print("{}", app_.help());
    return kExitFailure;
  }

 private:
  void add(CLI::App* app, std::function<int()> run) { commands_.emplace_back(app, std::move(run)); }

  int print_completion() const {
    completion::CommandWords words = completion::words_of(app_);
    for (const completion::CommandWords& fleet : fleet_command_words()) {
      const auto at = std::ranges::find(words.commands, fleet.name, &completion::CommandWords::name);
      if (at != words.commands.end()) at->flags = fleet.flags;
    }
    fmt::print("{}", completion::script(words, shell_));
    return 0;
  }

  CLI::App app_;
  std::vector<std::pair<CLI::App*, std::function<int()>>> commands_;
  AskOptions asking_;
  chat::ChatOptions chatting_;
  top::TopOptions watching_;
  KeysOptions keys_;
  CorpusOptions collecting_;
  verify::VerifyOptions verifying_;
  load::LoadOptions loading_;
  std::string shell_;
};

}  // namespace
}  // namespace slipstream::command

int main(int argc, char** argv) {
  using namespace slipstream::command;
  if (const auto status = run_fleet(argc, argv)) return *status;
  return CommandTable().run(argc, argv);
}
