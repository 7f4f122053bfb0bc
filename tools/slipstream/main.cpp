// The slipstream command. It speaks HTTP to the services, and starts them as processes; it is none of them.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

#include "common/base/build_info.h"
#include "common/config/kernel_choices.h"
#include "common/config/misspelling.h"
#include "tools/slipstream/ask_command.h"
#include "tools/slipstream/demo.h"
#include "tools/slipstream/keys_command.h"
#include "tools/slipstream/serve.h"
#include "tools/slipstream/verify/verify_command.h"

namespace slipstream::command {
namespace {

constexpr int kExitFailed = 1;
constexpr int kExitWordsDiffer = 1;
constexpr int kExitUsage = 2;  // or that verify-lossless could not tell
constexpr int kAskTokensMax = 512;

int failed(const Error& error, int status = kExitFailed) {
  std::fflush(stdout);
  fmt::print(stderr, "slipstream: {}\n", error.message);
  return status;
}

// Words of the command line that nothing takes, explained by the flags of the command that was given.
int strays(const CLI::App& app) {
  const CLI::App* given = &app;
  while (!given->get_subcommands().empty()) given = given->get_subcommands().front();
  std::vector<std::string> flags;
  for (const CLI::Option* option : given->get_options()) flags.push_back(option->get_single_name());
  for (const std::string& sentence : explain_strays(app.remaining(true), flags)) {
    fmt::print(stderr, "slipstream: {}\n", sentence);
  }
  fmt::print(stderr, "Run with --help for every command, and for every option of one.\n");
  return kExitUsage;
}

void fleet_flags(CLI::App& app, FleetOptions& options) {
  app.add_option("--model", options.model, "The model: a Hugging Face folder or a GGUF file")->capture_default_str();
  app.add_option("--drafter", options.drafter, "Who guesses ahead")
      ->check(CLI::IsMember({"ngram", "small-lm", "none"}))
      ->capture_default_str();
  app.add_option("--draft-model", options.draft_model,
                 "small-lm: its folder or GGUF file, with the model's own tokenizer; none: the model drafts for itself");
  app.add_option("--weights", options.weights, "Format of the matrices; file: as the file has them")
      ->check(CLI::IsMember(weights_choices()))
      ->capture_default_str();
  app.add_option("--threads", options.cpus, "CPUs to divide among the three; 0: what the CPU quota allows")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  app.add_option("--run-folder", options.run_folder, "Where logs go")->capture_default_str();
}

CLI::App* ask_flags(CLI::App& app, AskOptions& asking) {
  asking.question.tokens_max = kAskTokensMax;
  CLI::App* ask_app = app.add_subcommand("ask", "Ask a running server one question");
  ask_app->add_option("question", asking.question.text, "What to ask")->required();
  ask_app->add_option("--url", asking.url, "The server")->capture_default_str();
  ask_app->add_flag("--plain", asking.plain, "No colours, only the answer");
  ask_app->add_flag("!--no-drafts", asking.question.speculate, "Decode plainly, without drafters: the same words");
  ask_app->add_option("--temperature", asking.question.temperature, "0: always the likeliest word")->capture_default_str();
  ask_app->add_option("--seed", asking.question.seed, "The same seed gives the same words; drawn if not given");
  ask_app->add_option("--max-tokens", asking.question.tokens_max, "Where to stop at the latest")->capture_default_str();
  return ask_app;
}

CLI::App* demo_flags(CLI::App& app, DemoOptions& showing) {
  showing.fleet.port = 0;
  showing.fleet.name = "demo";
  CLI::App* demo_app = app.add_subcommand("demo", "Show it: two questions, a killed drafter, the same words");
  fleet_flags(*demo_app, showing.fleet);
  demo_app->add_option("--ask", showing.ask, "Your own question instead of ours");
  demo_app->add_flag("--plain", showing.plain, "No colours");
  return demo_app;
}

CLI::App* new_keys_flags(CLI::App& app, KeysOptions& keys) {
  CLI::App* keys_app = app.add_subcommand("keys", "Keys, with which processes on several machines know each other");
  keys_app->require_subcommand(1);
  CLI::App* new_keys_app = keys_app->add_subcommand("new", "Make a key for each role, or for each name given (drafter-2)");
  new_keys_app->add_option("folder", keys.folder, "Where they go")->required();
  new_keys_app->add_option("names", keys.names, "Whose; default: router, verifier, drafter");
  return new_keys_app;
}

// Ranges let nan through, which is neither below nor above.
std::string finite(const std::string& given) {
  return std::isnan(std::strtod(given.c_str(), nullptr)) ? fmt::format("{} is no number", given) : std::string();
}

CLI::App* verify_flags(CLI::App& app, verify::VerifyOptions& options) {
  CLI::App* verify_app = app.add_subcommand("verify-lossless",
                                            "Does a server say the same with speculation as without? To the byte, and as a "
                                            "law. Exit status: 0 the same, 1 different, "
                                            "2 could not tell");
  const auto option = [verify_app](const char* flag, auto& value, const char* help) {
    return verify_app->add_option(flag, value, help)->capture_default_str();
  };
  option("--server", options.server, "A running Slipstream, speculation off against on; or two servers:");
  option("--reference", options.reference, "Any OpenAI-style server, ...");
  option("--candidate", options.candidate, "... and another, or the same with other settings");
  option("--model", options.model, "Which model to ask for; none: the first of /v1/models");
  option("--candidate-model", options.candidate_model, "... of the candidate, if it is called otherwise there");
  option("--rule", options.rule, "Acceptance rule for the candidate's speculation; none: the server's own");
  option("--prompts", options.prompts, "One prompt a line, or JSON lines with a \"prompt\"; none: eight of ours");
  option("--temperatures", options.temperatures, "0: always the likeliest word")
      ->check(CLI::Range(0.0, 2.0))
      ->check(CLI::Validator(finite, ""))
      ->delimiter(',');
  option("--only", options.only, "One part only")->check(CLI::IsMember({"bytes", "law"}));
  option("--seeds", options.seeds, "Bytes: answers for each prompt and temperature")->check(CLI::Range(1, 1'000'000));
  option("--tokens", options.tokens, "Bytes: where an answer stops at the latest")->check(CLI::Range(1, 32768));
  option("--samples", options.samples, "Law: answers of each side, for each prompt and temperature above 0; 0: none")
      ->check(CLI::Range(0, 100'000'000));
  option("--law-prompts", options.law_prompts, "Law: the first so many prompts")->check(CLI::Range(1, 1'000'000));
  option("--positions", options.positions, "Law: tokens of each answer")->check(CLI::Range(1, 64));
  option("--alpha", options.alpha, "Law: chance of even one false alarm")->check(CLI::Range(1e-15, 0.5));
  option("--allow-differences", options.allow_differences,
         "Two servers: so many answers at temperature 0 may differ (near-ties that other arithmetic decides otherwise)")
      ->check(CLI::Range(0, 1'000'000));
  option("--streams", options.streams, "Questions at once")->check(CLI::Range(1, verify::kStreamsMax));
  option("--report", options.report, "Where the report goes: this with .md and .html");
  return verify_app;
}

int run(int argc, char** argv) {
  CLI::App app("Slipstream: a large language model served faster by letting others guess ahead.");
  app.require_subcommand(0, 1);
  app.set_version_flag("--version", build_summary());

  FleetOptions serving;
  CLI::App* serve_app = app.add_subcommand("serve", "Start router, verifier and drafter on this machine and keep them alive");
  fleet_flags(*serve_app, serving);
  serve_app->add_option("--keys", serving.keys,
                        "Folder of `slipstream keys new`: they speak encrypted; none: in clear, on loopback");
  int port = serving.port;
  serve_app->add_option("--port", port, "HTTP port on 127.0.0.1; 0: any free one")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();

  AskOptions asking;
  CLI::App* ask_app = ask_flags(app, asking);

  DemoOptions showing;
  demo_flags(app, showing);

  KeysOptions keys;
  CLI::App* new_keys_app = new_keys_flags(app, keys);

  verify::VerifyOptions verifying;
  CLI::App* verify_app = verify_flags(app, verifying);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ExtrasError&) {
    return strays(app);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kExitUsage;
  }
  if (app.get_subcommands().empty()) {
    fmt::print("{}", app.help());
    return kExitFailed;
  }
  serving.port = static_cast<uint16_t>(port);
  if (ask_app->parsed()) {
    const auto asked = ask_command(asking);
    return asked ? 0 : failed(asked.error());
  }
  if (new_keys_app->parsed()) {
    const auto made = make_keys(keys);
    return made ? 0 : failed(made.error());
  }
  if (verify_app->parsed()) {
    const auto verdict = verify::verify_lossless(verifying);
    return verdict ? static_cast<int>(*verdict) : failed(verdict.error(), kExitUsage);
  }
  StopSignal stop;  // before any thread: each inherits its mask
  if (serve_app->parsed()) {
    const auto served = serve(serving, stop);
    return served ? 0 : failed(served.error());
  }
  const auto shown = demo(showing, stop);
  if (!shown) return failed(shown.error());
  return *shown ? 0 : kExitWordsDiffer;
}

}  // namespace
}  // namespace slipstream::command

int main(int argc, char** argv) { return slipstream::command::run(argc, argv); }
