#include "tools/slipstream/verify/servers.h"

#include "common/base/check.h"

namespace slipstream::command::verify {
namespace {

constexpr std::string_view kSlipstream = "slipstream";
constexpr const char* kFirstWord = "hello";

std::string address(const ServerUnderTest& server) { return server.url.text(); }

Result<Answer> first_answer(const ServerUnderTest& server, bool logprobs) {
  http::Client client = connect(server);
  return ask(client, server, {kFirstWord, 1, 1.0F, 1}, logprobs);
}

bool gives_ids(const ServerUnderTest& server) {
  const auto first = first_answer(server, false);
  return first && !first->ids.empty();
}

// A server that refuses the field counts as one without logprobs.
bool gives_logprobs(const ServerUnderTest& server) {
  const auto first = first_answer(server, true);
  return first && !first->logprob_tokens.empty();
}

void detect_outputs(ServerPair& servers) {
  for (ServerUnderTest* server : {&servers.reference, &servers.candidate})
    server->ids = server->slipstream() && gives_ids(*server);
  if (servers.give_ids()) return;
  for (ServerUnderTest* server : {&servers.reference, &servers.candidate}) server->logprobs = gives_logprobs(*server);
}

}  // namespace

std::string ServerUnderTest::words() const {
  std::string words = fmt::format("{}, model {}", address(*this), model.name);
  if (!slipstream()) return words;
  words += defaults.speculate ? ", speculation on" : ", speculation off";
  if (!defaults.rule.empty()) words += fmt::format(", rule {}", defaults.rule);
  if (!defaults.tuning.empty()) words += fmt::format(" {}", defaults.tuning);
  if (!ids) words += "; it calls itself a Slipstream, but no token ids come from there";
  return words;
}

http::Client connect(const ServerUnderTest& server) {
  auto client = server.url.client();
  CHECK(client, "the system's authorities: {}", client.error().message);  // probe() found them readable
  return *std::move(client);
}

Result<Answer> ask(http::Client& client, const ServerUnderTest& server, const Query& query, bool logprobs) {
  Question question = server.defaults;
  question.text = query.prompt;
  question.seed = query.seed;
  question.temperature = query.temperature;
  question.tokens_max = query.tokens_max;
  question.logprobs = logprobs;
  auto answer = ask(client, server.model.name, question, [](const Piece&) { return true; });
  if (!answer) {
    return fail("{} did not answer (seed {}, temperature {:g}): {}", address(server), query.seed, query.temperature,
                answer.error().message);
  }
  // A server that has no such drafter answers all the same, and says so. Its answers would test
  // other drafts.
  if (answer->why_rule.starts_with("no_drafter")) {
    return fail("{} has no drafter as asked for (--drafter, --rule): {}; `slipstream top` shows which are there",
                address(server), answer->why_rule);
  }
  // A server may run another rule than asked for, and say so. Its answers would test the wrong
  // rule.
  if (!question.rule.empty() && question.temperature > 0 && answer->rule != question.rule) {
    if (answer->rule.empty())
      return fail("{} does not say which rule it ran where {} was asked for", address(server), question.rule);
    return fail("{} ran the rule {} where {} was asked for; {}", address(server), answer->rule, question.rule,
                answer->why_rule.empty()
                    ? "it does not say why"
                    : fmt::format("its reason: {} (docs/use/API.md says what that means)", answer->why_rule));
  }
  return answer;
}

Result<ServerUnderTest> probe(const ServerChoice& choice) {
  ServerUnderTest server;
  TRY(server.url, ServerUrl::parse(choice.url));
  TRY(http::Client client, server.url.client());
  client.set_api_key(choice.api_key);
  auto served = served_model(client);
  if (!served) return fail("no OpenAI-style server at {} ({}); start it, or name another", choice.url, served.error().message);
  server.model = *std::move(served);
  if (!choice.model.empty()) server.model.name = choice.model;
  server.defaults.api_key = choice.api_key;
  server.defaults.standard = server.model.owner != kSlipstream;
  return server;
}

Result<ServerPair> probe_two(const ServerChoice& reference, const ServerChoice& candidate) {
  ServerPair servers;
  TRY(servers.reference, probe(reference));
  TRY(servers.candidate, probe(candidate));
  detect_outputs(servers);
  return servers;
}

Result<ServerPair> probe_switched(const ServerChoice& choice, const SpeculationFlags& wanted) {
  TRY(const ServerUnderTest server, probe(choice));
  if (!server.slipstream()) {
    return fail(
        "{} is no Slipstream, so its speculation cannot be switched by request; give two servers, with --reference and "
        "--candidate",
        choice.url);
  }
  ServerPair servers{server, server};
  servers.reference.defaults.speculate = false;
  // Probe both without the rule. If the rule cannot run, the first real answer reports that with
  // its reason.
  detect_outputs(servers);
  servers.candidate.defaults.rule = wanted.rule;
  servers.candidate.defaults.tuning = wanted.json();
  return servers;
}

}  // namespace slipstream::command::verify
