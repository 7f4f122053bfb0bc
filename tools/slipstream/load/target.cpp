#include "tools/slipstream/load/target.h"

#include <utility>

namespace slipstream::command::load {

Result<http::Client> Target::client() const {
  TRY(http::Client client, url.client(ca_file, timeout));
  client.set_api_key(api_key);
  return client;
}

Result<Target> find_target(const TargetChoice& choice) {
  Target target{.url = {}, .model = {}, .ca_file = choice.ca_file, .api_key = choice.api_key, .timeout = choice.timeout};
  TRY(target.url, ServerUrl::parse(choice.url));
  TRY(http::Client client, target.client());
  auto listed = served_model(client);
  if (!listed) {
    return fail("no OpenAI-style server at {} ({}); start one with `slipstream serve`, or name another with --url", choice.url,
                listed.error().message);
  }
  target.model = *std::move(listed);
  if (!choice.model.empty()) target.model.name = choice.model;
  return target;
}

}  // namespace slipstream::command::load
