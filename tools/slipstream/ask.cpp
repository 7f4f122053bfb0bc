#include <unistd.h>

#include <cstdio>
#include <string>

#include "tools/slipstream/commands.h"
#include "tools/slipstream/terminal.h"
#include "tools/slipstream/tty.h"

namespace slipstream::command {
namespace {

constexpr size_t kQuestionBytesMax = 1024 * 1024;  // read from standard input

// The question itself, or for none and "-" what standard input says. A terminal is not read: nobody
// would know that it waits.
Result<std::string> question_text(const std::string& given) {
  if (!given.empty() && given != "-") return given;
  if (given.empty() && isatty(STDIN_FILENO) != 0) {
    return fail("what is the question? slipstream ask 'Why is the sky blue?', or pipe one in");
  }
  std::string text(kQuestionBytesMax + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), stdin));
  if (text.size() > kQuestionBytesMax) return fail("the question has more than {} bytes", kQuestionBytesMax);
  while (text.ends_with('\n')) text.pop_back();
  if (text.empty()) return fail("standard input is empty: there is no question");
  return text;
}

}  // namespace

Result<void> ask_command(const AskOptions& options) {
  Question question = options.question;
  TRY(question.text, question_text(question.text));
  TRY(const ServerUrl url, ServerUrl::parse(options.url));
  TRY(http::Client client, url.client(options.ca_file));
  client.set_api_key(question.api_key);
  TRY(const ServedModel model, find_server(client, url));
  const Palette palette = Palette::of_terminal(options.plain);
  fmt::print("{}", palette.legend(terminal_size().columns));
  TRY(const Answer answer, ask(client, model.name, question, [&](const Piece& piece) {
        fmt::print("{}", palette.paint(piece));
        std::fflush(stdout);
        return true;
      }));
  fmt::print("\n");
  if (!palette.colours()) return {};  // piped output is the answer only
  fmt::print("{}\n", palette.aside(figures(answer)));
  return {};
}

}  // namespace slipstream::command
