#include <cstdio>

#include "tools/slipstream/commands.h"
#include "tools/slipstream/terminal.h"

namespace slipstream::command {

Result<void> ask_command(const AskOptions& options) {
  TRY(const ServerUrl url, ServerUrl::parse(options.url));
  TRY(http::Client client, url.client(options.ca_file));
  client.set_api_key(options.question.api_key);
  auto model = served_model(client);
  if (!model) {
    return fail("no Slipstream server at {} ({}); start one with `slipstream serve`, or name another with --url", options.url,
                model.error().message);
  }
  const Palette palette = Palette::of_terminal(options.plain);
  fmt::print("{}", palette.legend());
  TRY(const Answer answer, ask(client, model->name, options.question, [&](const Piece& piece) {
        fmt::print("{}", palette.paint(piece));
        std::fflush(stdout);
        return true;
      }));
  fmt::print("\n");
  if (!palette.colours()) return {};  // piped output is the answer only
  fmt::print("{}\n", palette.aside(fmt::format("{} tokens, {:.1f} tokens/s, {:.2f} tokens a step", answer.ids.size(),
                                               answer.tokens_per_s(), answer.acceptance_length)));
  return {};
}

}  // namespace slipstream::command
