#include "tools/slipstream/chat/chat.h"

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "common/base/limits.h"
#include "common/config/subcommands.h"

namespace slipstream::command::chat {
namespace {

constexpr int kChatTokensMax = 512;  // of an answer, unless the user says otherwise
constexpr double kTemperatureMax = 2;

}  // namespace

CLI::App* chat_flags(CLI::App& app, ChatOptions& options) {
  Question& question = options.question;
  question.tokens_max = kChatTokensMax;
  CLI::App* chat = app.add_subcommand("chat", "Talk with a running server; /help shows what else it can do");
  chat->add_option("--url", options.url, "The server")->envname("SLIPSTREAM_URL")->capture_default_str();
  chat->add_option("--cacert", options.ca_file, "https: PEM file of the authorities that are trusted; none: the system's");
  chat->add_option("--api-key", question.api_key, "Sent with each question; drafts may come from earlier answers to it")
      ->envname("SLIPSTREAM_API_KEY");
  chat->add_option("--system", question.system, "How the model shall answer: a message before all others");
  chat->add_option("--temperature", question.temperature, "0: always the likeliest word")
      ->check(number_between(0, kTemperatureMax))
      ->capture_default_str();
  chat->add_option("--seed", question.seed, "Equal seeds give equal words; random if not given");
  chat->add_option("--max-tokens", question.tokens_max, "Where an answer stops at the latest; 0: what the context leaves")
      ->check(CLI::Range(0, kContextTokensMax))
      ->capture_default_str();
  chat->add_flag("!--no-drafts", question.speculate, "Decode plainly, without drafters: the same words");
  chat->add_flag("--plain", options.plain, "No colours");
  return chat;
}

}  // namespace slipstream::command::chat
