#include "tools/slipstream/flags.h"

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <string>

#include "common/base/limits.h"
#include "common/config/subcommands.h"

namespace slipstream::command {
namespace {

constexpr int kAskTokensMax = 512;

void check_number(CLI::Option* option, double least, double most) { option->check(number_between(least, most)); }

// Each flag has the name of its field in the request.
void request_flags(CLI::App& app, verify::VerifyOptions& options) {
  const std::string speculation = "How the candidate speculates (with --server)", request = "What both are asked with";
  const auto option = [&app](const std::string& group, const char* flag, auto& value, const char* help) {
    return app.add_option(flag, value, help)->group(group);
  };
  const auto number = [&option](const std::string& group, const char* flag, auto& value, double least, double most,
                                const char* help) { check_number(option(group, flag, value, help), least, most); };
  verify::SpeculationFlags& how = options.speculation;
  option(speculation, "--rule", how.rule, "Acceptance rule; none: the server's own");
  option(speculation, "--siblings", how.siblings, "Rules ratio, batch and traversal: candidates of each node")
      ->check(CLI::Range(1, kSiblingsMax));
  number(speculation, "--lenience", how.lenience, 0, 1, "Rule lenience: how far it may stray; 1: not at all");
  number(
      speculation, "--epsilon", how.epsilon, 0, 1,
      "Rules pareto and uniform: how far they may stray; rule typical: probability below which drafts are rejected (0: none, "
      "most bias)");
  number(speculation, "--delta", how.delta, 0, 1,
         "Rule typical: its other limit, as a factor of exp(-entropy); the lower limit counts");
  option(speculation, "--nodes", how.nodes, "Nodes of a draft tree, at most")->check(CLI::Range(0, kTreeNodesMax));
  option(speculation, "--depth", how.depth, "Levels of a draft tree, at most")->check(CLI::Range(0, kTreeDepthMax));
  option(speculation, "--drafter", how.drafter, "Draft method; none: any");
  verify::RequestFlags& fields = options.request;
  number(request, "--top-p", fields.top_p, 0, 1, "Sample from the likeliest tokens with this total probability");
  option(request, "--top-k", fields.top_k, "Sample from this many likeliest tokens");
  number(request, "--min-p", fields.min_p, 0, 1, "Sample from tokens at least this likely, relative to the likeliest");
  number(request, "--repetition-penalty", fields.repetition_penalty, 0.01, 100, "Of tokens in prompt or output; 1: off");
  number(request, "--presence-penalty", fields.presence_penalty, -2, 2, "Of tokens in the output; 0: off");
  number(request, "--frequency-penalty", fields.frequency_penalty, -2, 2,
         "Of tokens in the output, for each occurrence; 0: off");
  option(request, "--response-format", fields.response_format,
         "File with a JSON schema that every answer follows, or with the field `response_format` itself")
      ->check(CLI::ExistingFile);
  option(request, "--fields", fields.fields, "Any other fields, as a JSON object: '{\"bad_words\": [\"no\"]}'");
}

}  // namespace

CLI::App* ask_flags(CLI::App& app, AskOptions& query) {
  query.question.tokens_max = kAskTokensMax;
  CLI::App* ask_app = app.add_subcommand("ask", "Ask a running server one question");
  ask_app->add_option("question", query.question.text, "What to ask; without it, or with -, what standard input says");
  ask_app->add_option("--system", query.question.system, "How the model shall answer: a message before the question");
  ask_app->add_option("--url", query.url, "The server")->envname("SLIPSTREAM_URL")->capture_default_str();
  ask_app->add_option("--cacert", query.ca_file, "https: PEM file of the authorities that are trusted; none: the system's");
  ask_app->add_flag("--plain", query.plain, "No colours, only the answer");
  ask_app->add_flag("!--no-drafts", query.question.speculate, "Decode plainly, without drafters: the same words");
  ask_app->add_option("--temperature", query.question.temperature, "0: always the likeliest word")->capture_default_str();
  ask_app->add_option("--seed", query.question.seed, "Equal seeds give equal words; random if not given");
  ask_app->add_option("--api-key", query.question.api_key, "Sent with the question; drafts may come from earlier answers to it")
      ->envname("SLIPSTREAM_API_KEY");
  ask_app->add_option("--max-tokens", query.question.tokens_max, "Where to stop at the latest")->capture_default_str();
  return ask_app;
}

CLI::App* new_keys_flags(CLI::App& app, KeysOptions& keys) {
  CLI::App* keys_app = app.add_subcommand("keys", "Keys for encryption between processes on several machines");
  keys_app->require_subcommand(1);
  CLI::App* new_keys_app = keys_app->add_subcommand("new", "Make a key for each role, or for each name given (drafter-2)");
  new_keys_app->add_option("folder", keys.folder, "Folder for the keys")->required();
  new_keys_app->add_option("names", keys.names, "Names of the processes; default: router, verifier, drafter");
  return new_keys_app;
}

CLI::App* corpus_flags(CLI::App& app, CorpusOptions& options) {
  CLI::App* corpus_app =
      app.add_subcommand("corpus", "Make a file of a running server's answers, in which look-up finds drafts for everybody");
  corpus_app->add_option("corpus", options.corpus, "The file to write")->required();
  corpus_app->add_option("--prompts", options.prompts, "One prompt a line, or JSON lines with a \"prompt\"");
  corpus_app->add_option("--exclude", options.exclude,
                         "Files of prompts that must not be in it, nor any that shares words with them");
  corpus_app->add_option("--answers", options.answers,
                         "Answers so far, as JSON lines with \"token_ids\"; none: the corpus with .answers.jsonl");
  corpus_app->add_option("--url", options.url, "The server")->capture_default_str();
  corpus_app->add_option("--api-key", options.api_key, "Sent with each prompt")->envname("SLIPSTREAM_API_KEY");
  corpus_app->add_option("--model", options.model, "The model that it serves, whose tokenizer is read")->capture_default_str();
  corpus_app->add_option("--max-tokens", options.tokens_max, "Where an answer stops at the latest")
      ->check(CLI::Range(1, kContextTokensMax))
      ->capture_default_str();
  corpus_app->add_option("--streams", options.streams, "Questions at once")
      ->check(CLI::Range(1, verify::kStreamsMax))
      ->capture_default_str();
  return corpus_app;
}

CLI::App* verify_flags(CLI::App& app, verify::VerifyOptions& options) {
  CLI::App* verify_app = app.add_subcommand("verify-lossless",
                                            "Does a server say the same with speculation as without? To the byte, and as a "
                                            "distribution. Exit status: 0 the same, 1 different, "
                                            "2 could not tell");
  const auto option = [verify_app](const char* flag, auto& value, const char* help) {
    return verify_app->add_option(flag, value, help)->capture_default_str();
  };
  option("--server", options.server, "A running Slipstream, speculation off against on; or two servers:");
  option("--reference", options.reference, "Any OpenAI-style server, ...");
  option("--candidate", options.candidate, "... and another, or the same with other settings");
  option("--model", options.model, "Which model to ask for; none: the first of /v1/models");
  option("--candidate-model", options.candidate_model, "... of the candidate, if it is called otherwise there");
  option("--api-key", options.api_key, "Sent with each question to either")->envname("SLIPSTREAM_API_KEY");
  option("--prompts", options.prompts, "One prompt a line, or JSON lines with a \"prompt\"; none: eight of ours");
  check_number(option("--temperatures", options.temperatures, "0: always the likeliest word")->delimiter(','), 0, 2);
  option("--only", options.only, "One part only")->check(CLI::IsMember({"bytes", "distribution"}));
  option("--seeds", options.seeds, "Bytes: answers for each prompt and temperature")->check(CLI::Range(1, 1'000'000));
  option("--tokens", options.tokens, "Bytes: where an answer stops at the latest")->check(CLI::Range(1, 32768));
  option("--samples", options.samples, "Distribution: answers of each side, for each prompt and temperature above 0; 0: none")
      ->check(CLI::Range(0, 100'000'000));
  option("--seed", options.seed, "Range of seeds: the same number repeats the questions, another one takes new seeds")
      ->check(CLI::Range(1, verify::kSeedMax));
  option("--distribution-prompts", options.distribution_prompts, "Distribution: number of prompts, from the first")
      ->check(CLI::Range(1, 1'000'000));
  option("--positions", options.positions, "Distribution: tokens of each answer that are compared")->check(CLI::Range(1, 64));
  check_number(option("--alpha", options.alpha, "Distribution: chance of even one false alarm"), 1e-15, 0.5);
  option("--allow-differences", options.allow_differences,
         "Two servers: this many answers at temperature 0 may differ (near-ties that other arithmetic decides otherwise)")
      ->check(CLI::Range(0, 1'000'000));
  option("--streams", options.streams, "Questions at once")->check(CLI::Range(1, verify::kStreamsMax));
  option("--report", options.report, "Where the report goes: this with .md and .html");
  request_flags(*verify_app, options);
  return verify_app;
}

}  // namespace slipstream::command
