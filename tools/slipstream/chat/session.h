// One chat while it runs: it reads lines, asks, prints, and obeys commands. Not thread-safe.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "tools/slipstream/chat/answer_view.h"
#include "tools/slipstream/chat/chat.h"
#include "tools/slipstream/chat/chat_line.h"
#include "tools/slipstream/chat/conversation.h"
#include "tools/slipstream/chat/interrupts.h"
#include "tools/slipstream/chat/prompt.h"
#include "tools/slipstream/terminal.h"

namespace slipstream::command::chat {

class Session {
 public:
  // interrupts: null where nobody sits at a terminal; Ctrl-C then ends the program as usual.
  Session(const ChatOptions& options, ServerUrl url, std::string model, Interrupts* interrupts);
  void run();                                 // until it ends
  int failures() const { return failures_; }  // questions and commands that failed

 private:
  void take(const std::string& line);
  void obey(const ChatCommand& command);
  void set_system(const std::string& text);
  void set_seed(const std::string& text);
  void set_temperature(const std::string& text);
  void set_drafts(const std::string& text);
  void retry();
  void save(const std::string& file, bool replace);
  void clear();

  void ask(const std::string& text);
  std::optional<AskFailure> stream(const Question& question, Answer& answer, bool& interrupted);
  void show(const Piece& piece, const Answer& answer);
  void close_answer(const std::string& text, const Answer& answer, const std::string& cut);
  void report(const AskFailure& failure);
  bool goes_on(const Prompt::Read& read);

  bool interactive() const { return interrupts_ != nullptr; }
  void say(std::string_view remark) const;  // to a user who sits there
  void complain(std::string_view error);

  ServerUrl url_;
  std::string ca_file_, model_;
  Question settings_;  // how each question is asked
  Conversation conversation_;
  std::optional<std::string> unanswered_;  // the last question, if no word of an answer came
  Interrupts* interrupts_;
  Prompt prompt_;
  Palette palette_;
  AnswerView view_;  // of the answer that streams
  std::chrono::steady_clock::time_point figures_shown_{};
  bool ended_ = false, warned_ = false;  // warned_: a further Ctrl-C at the prompt ends it
  int failures_ = 0;
};

}  // namespace slipstream::command::chat
