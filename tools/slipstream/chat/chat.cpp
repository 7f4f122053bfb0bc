#include "tools/slipstream/chat/chat.h"

#include <clocale>
#include <optional>

#include "tools/slipstream/chat/interrupts.h"
#include "tools/slipstream/chat/session.h"
#include "tools/slipstream/terminal.h"
#include "tools/slipstream/tty.h"

namespace slipstream::command::chat {

Result<void> run_chat(const ChatOptions& options) {
  TRY(const ServerUrl url, ServerUrl::parse(options.url));
  std::optional<Interrupts> interrupts;
  if (is_interactive()) interrupts.emplace();
  std::setlocale(LC_CTYPE, "C.UTF-8");  // how wide a letter is
  TRY(http::Client client, url.client(options.ca_file));
  client.set_api_key(options.question.api_key);
  Result<ServedModel> model = fail("interrupted");
  const auto look = [&] { model = find_server(client, url); };
  if (interrupts) {
    interrupts->during(look, [&] { client.cancel(); });  // a server may accept a connection and say nothing
  } else {
    look();
  }
  TRY_VOID(model);
  Session session(options, url, model->name, interrupts ? &*interrupts : nullptr);
  session.run();
  if (interrupts || session.failures() == 0) return {};
  return fail("{} of the lines could not be answered", session.failures());
}

}  // namespace slipstream::command::chat
