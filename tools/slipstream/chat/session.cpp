#include "tools/slipstream/chat/session.h"

#include <cstdio>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "common/base/write_whole.h"
#include "tools/slipstream/chat/advice.h"
#include "tools/slipstream/tty.h"

namespace slipstream::command::chat {
namespace {

constexpr std::string_view kStopped = "stopped";
constexpr std::string_view kCutShort = "broken off";
constexpr std::string_view kAtItsLimit = "--max-tokens reached";
constexpr std::string_view kWaits = "waiting for the first word; Ctrl-C stops";
constexpr std::chrono::milliseconds kBetweenFigures{100};  // below an answer that streams

Result<std::string> file_text(const Conversation& conversation, const std::string& model, const std::filesystem::path& file) {
  const std::string ending = file.extension().string();
  if (ending == ".md" || ending == ".markdown") return conversation.markdown(model);
  if (ending == ".json") return conversation.json(model);
  return fail("{} ends neither in .md nor in .json, so its format is not clear", file.string());
}

Result<void> save_file(const std::filesystem::path& file, const std::string& text, bool replace) {
  std::error_code ignored;
  if (!replace && std::filesystem::exists(file, ignored)) {
    return fail("{} is there already; write over it with /save! {}", file.string(), file.string());
  }
  return replace_whole(file.string(), text, "the chat");
}

// A remark whose lines break between words.
std::string wrapped(std::string_view remark) {
  const Palette plain(false);
  return AnswerView(plain).add({.text = harmless(remark)}, terminal_size().columns);
}

}  // namespace

Session::Session(const ChatOptions& options, ServerUrl url, std::string model, Interrupts* interrupts)
    : url_(std::move(url)),
      ca_file_(options.ca_file),
      model_(std::move(model)),
      settings_(options.question),
      interrupts_(interrupts),
      prompt_(interactive(), interactive() ? interrupts->descriptor() : -1),
      palette_(Palette::of_terminal(options.plain)),
      view_(palette_) {
  conversation_.system = settings_.system;
}

void Session::run() {
  say(fmt::format("{} at {}. /help shows the commands, Ctrl-D ends.", model_, url_.text()));
  if (interactive()) fmt::print("{}", palette_.legend(terminal_size().columns));
  while (!ended_) {
    const Prompt::Read read = prompt_.read();
    if (!goes_on(read)) return;
    if (read.line) take(*read.line);
  }
}

// The first Ctrl-C at the prompt only drops the line; so does none that stopped an answer just
// before.
bool Session::goes_on(const Prompt::Read& read) {
  if (read.line) {
    warned_ = false;
    return true;
  }
  if (!read.interrupted || warned_) return false;
  warned_ = true;
  say("Ctrl-C again or Ctrl-D ends the chat");
  return true;
}

void Session::take(const std::string& line) {
  const auto read = read_chat_line(line);
  if (!read) return complain(read.error().message);
  if (const auto* command = std::get_if<ChatCommand>(&*read)) return obey(*command);
  const std::string& question = std::get<std::string>(*read);
  if (!question.empty()) ask(question);
}

void Session::obey(const ChatCommand& command) {
  switch (command.verb) {
    case Verb::system:
      return set_system(command.argument);
    case Verb::seed:
      return set_seed(command.argument);
    case Verb::temperature:
      return set_temperature(command.argument);
    case Verb::drafter:
      return set_drafts(command.argument);
    case Verb::retry:
      return retry();
    case Verb::save:
    case Verb::replace:
      return save(command.argument, command.verb == Verb::replace);
    case Verb::clear:
      return clear();
    case Verb::help:
      return interactive() ? say(chat_help()) : fmt::print("{}", chat_help());  // who asks for it in a pipe reads it there
    case Verb::quit:
      ended_ = true;
  }
}

void Session::set_system(const std::string& text) {
  conversation_.system = text;
  say(text.empty() ? "no system message from now on" : "the system message holds from the next question on");
}

void Session::set_seed(const std::string& text) {
  const auto seed = read_seed(text);
  if (!seed) return complain(seed.error().message);
  settings_.seed = *seed;
  say(settings_.seed ? fmt::format("seed {}", *settings_.seed) : "a random seed for each answer");
}

void Session::set_temperature(const std::string& text) {
  const auto temperature = read_temperature(text);
  if (!temperature) return complain(temperature.error().message);
  settings_.temperature = *temperature;
  say(fmt::format("temperature {}", settings_.temperature));
}

void Session::set_drafts(const std::string& text) {
  const auto drafts = read_switch(text);
  if (!drafts) return complain(drafts.error().message);
  settings_.speculate = *drafts;
  say(*drafts ? "with drafters: the same words, faster" : "without drafters: the same words, plainly");
}

void Session::retry() {
  const auto question = unanswered_ ? std::exchange(unanswered_, std::nullopt) : conversation_.take_back();
  if (!question) return complain("there is no question to ask again");
  const bool sampled = settings_.temperature > 0;
  if (sampled && settings_.seed) say(fmt::format("seed {}", ++*settings_.seed));
  if (!sampled) say("at temperature 0 the words are the same each time; /temperature 0.8 varies them");
  ask(*question);
}

void Session::save(const std::string& file, bool replace) {
  const auto text = file_text(conversation_, model_, file);
  if (!text) return complain(text.error().message);
  const auto saved = save_file(file, *text, replace);
  if (!saved) return complain(saved.error().message);
  say(fmt::format("{} questions and their answers are in {}", conversation_.turns().size(), file));
}

void Session::clear() {
  conversation_.clear();
  unanswered_.reset();
  say("the chat so far is forgotten");
}

void Session::ask(const std::string& text) {
  Question question = settings_;
  question.text = text;
  question.system = conversation_.system;
  question.history = conversation_.messages();
  Answer answer;
  bool interrupted = false;
  const auto failure = stream(question, answer, interrupted);
  unanswered_.reset();
  close_answer(text, answer, std::string(interrupted && failure ? kStopped : failure ? kCutShort : ""));
  if (interrupted && failure) {
    warned_ = true;
    ended_ = interrupts_->ending();
  } else if (failure) {
    report(*failure);
  }
}

// A client of its own for each question: one that was cancelled stays so.
std::optional<AskFailure> Session::stream(const Question& question, Answer& answer, bool& interrupted) {
  auto client = url_.client(ca_file_);
  if (!client) return AskFailure{.message = client.error().message};
  std::optional<AskFailure> failure;
  const auto act = [&] {
    failure = ask_into(*client, model_, question, [&](const Piece& piece) { return show(piece, answer), true; }, answer);
  };
  if (!interactive()) {
    act();
    return failure;
  }
  const TerminalMode unseen(TerminalMode::Typing::unseen);
  fmt::print("{}", view_.below(std::string(kWaits), terminal_size().columns));
  std::fflush(stdout);
  interrupted = interrupts_->during(act, [&] { client->cancel(); });
  return failure;
}

void Session::show(const Piece& piece, const Answer& answer) {
  if (!interactive()) {
    fmt::print("{}", palette_.paint(piece));
    std::fflush(stdout);
    return;
  }
  const int columns = terminal_size().columns;
  fmt::print("{}", view_.add({harmless(piece.text), piece.drafted}, columns));
  const auto now = std::chrono::steady_clock::now();
  if (now - figures_shown_ >= kBetweenFigures) {
    figures_shown_ = now;
    fmt::print("{}", view_.below(figures(answer), columns));
  }
  std::fflush(stdout);
}

// Keeps what came: a part of an answer stays in the chat, marked.
void Session::close_answer(const std::string& text, const Answer& answer, const std::string& cut) {
  const bool none = answer.text.empty() && !cut.empty();
  if (interactive()) {
    fmt::print("{}", view_.end());
  } else if (!none) {
    fmt::print("\n");
  }
  if (none) {
    unanswered_ = text;
  } else {
    conversation_.add({text, answer.text, cut});
    const std::string_view end = cut.empty() && answer.finish == "length" ? kAtItsLimit : std::string_view(cut);
    say(fmt::format("{}{}", end.empty() ? "" : fmt::format("[{}] ", end), figures(answer)));
  }
  if (none && cut == kStopped) say("[stopped before the first word; /retry asks again]");
  std::fflush(stdout);
}

void Session::report(const AskFailure& failure) {
  const std::string next = advice(failure);
  complain(next.empty() ? failure.message : fmt::format("{}\n  {}", failure.message, next));
}

void Session::say(std::string_view remark) const {
  if (remark.ends_with('\n')) remark.remove_suffix(1);
  if (interactive()) fmt::print("{}\n", palette_.aside(wrapped(remark)));
}

void Session::complain(std::string_view error) {
  ++failures_;
  std::fflush(stdout);
  if (interactive()) {
    fmt::print("{}\n", palette_.trouble(wrapped(error)));
  } else {
    fmt::print(stderr, "slipstream chat: {}\n", harmless(error));
  }
}

}  // namespace slipstream::command::chat
