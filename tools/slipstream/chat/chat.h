// slipstream chat: a conversation with a running server. On a terminal it shows which tokens a
// drafter had guessed, edits lines, and stops an answer on Ctrl-C. In a pipe it reads a question a
// line and prints the answers only.
#pragma once

#include <string>

#include <CLI/App.hpp>

#include "common/base/result.h"
#include "tools/slipstream/chat_client.h"

namespace slipstream::command::chat {

struct ChatOptions {
  std::string url = "http://127.0.0.1:8080";
  std::string ca_file;  // https: certificates of the authorities that are trusted; empty: the system's
  bool plain = false;   // without colours
  Question question;    // how each question is asked; its text and history are not read
};

// Adds the subcommand, which fills `options` when it is parsed. REQUIRES: options outlive the app.
CLI::App* chat_flags(CLI::App& app, ChatOptions& options);

// Returns when the user ends the chat, or the pipe does. Errors: there is no server; in a pipe
// also that questions failed, whose errors stand on stderr. REQUIRES: no other thread has started.
Result<void> run_chat(const ChatOptions& options);

}  // namespace slipstream::command::chat
