#include "tools/slipstream/verify/side.h"

namespace slipstream::command::verify {
namespace {

constexpr std::string_view kSlipstream = "slipstream";
constexpr const char* kFirstWord = "hello";

std::string address(const Side& side) { return fmt::format("http://{}:{}", side.url.host, side.url.port); }

Result<Answer> first_answer(const Side& side, bool logprobs) {
  http::Client client = connect(side);
  return ask(client, side, {kFirstWord, 1, 1.0F, 1}, logprobs);
}

bool gives_ids(const Side& side) {
  const auto first = first_answer(side, false);
  return first && !first->ids.empty();
}

// One that refuses the field gives none.
bool gives_logprobs(const Side& side) {
  const auto first = first_answer(side, true);
  return first && !first->logprob_tokens.empty();
}

void see_what_comes(Sides& sides) {
  for (Side* side : {&sides.reference, &sides.candidate}) side->ids = side->slipstream() && gives_ids(*side);
  if (sides.give_ids()) return;
  for (Side* side : {&sides.reference, &sides.candidate}) side->logprobs = gives_logprobs(*side);
}

}  // namespace

std::string Side::words() const {
  std::string words = fmt::format("{}, model {}", address(*this), model.name);
  if (!slipstream()) return words;
  words += habit.speculate ? ", speculation on" : ", speculation off";
  if (!habit.rule.empty()) words += fmt::format(", rule {}", habit.rule);
  if (!habit.tuning.empty()) words += fmt::format(" {}", habit.tuning);
  if (!ids) words += "; it calls itself a Slipstream, but no token ids come from there";
  return words;
}

http::Client connect(const Side& side) { return {side.url.host, side.url.port, kAnswerTimeout}; }

Result<Answer> ask(http::Client& client, const Side& side, const Asking& asking, bool logprobs) {
  Question question = side.habit;
  question.text = asking.prompt;
  question.seed = asking.seed;
  question.temperature = asking.temperature;
  question.tokens_max = asking.tokens_max;
  question.logprobs = logprobs;
  auto answer = ask(client, side.model.name, question, [](const Piece&) { return true; });
  if (!answer) {
    return fail("{} did not answer (seed {}, temperature {:g}): {}", address(side), asking.seed, asking.temperature,
                answer.error().message);
  }
  if (!question.rule.empty() && question.temperature > 0 && answer->rule != question.rule) {
    if (answer->rule.empty())
      return fail("{} does not say which rule it ran where {} was asked for", address(side), question.rule);
    return fail("{} ran the rule {} where {} was asked for; {}", address(side), answer->rule, question.rule,
                answer->why_rule.empty() ? "it does not say why"
                                         : fmt::format("its reason: {} (docs/API.md says what that means)", answer->why_rule));
  }
  return answer;
}

Result<Side> meet(const Invitation& invitation) {
  Side side;
  TRY(side.url, ServerUrl::parse(invitation.url));
  http::Client client = connect(side);
  auto served = served_model(client);
  if (!served)
    return fail("no OpenAI-style server at {} ({}); start it, or name another", invitation.url, served.error().message);
  side.model = *std::move(served);
  if (!invitation.model.empty()) side.model.name = invitation.model;
  side.habit.standard = side.model.owner != kSlipstream;
  return side;
}

Result<Sides> meet_two(const Invitation& reference, const Invitation& candidate) {
  Sides sides;
  TRY(sides.reference, meet(reference));
  TRY(sides.candidate, meet(candidate));
  see_what_comes(sides);
  return sides;
}

Result<Sides> meet_switched(const Invitation& invitation, const SpeculationFlags& wanted) {
  TRY(const Side side, meet(invitation));
  if (!side.slipstream()) {
    return fail(
        "{} is no Slipstream, so its speculation cannot be switched by request; give two servers, with --reference and "
        "--candidate",
        invitation.url);
  }
  Sides sides{side, side};
  sides.reference.habit.speculate = false;
  see_what_comes(sides);  // of both plainly: a rule that does not run is told by the first answer that counts
  sides.candidate.habit.rule = wanted.rule;
  sides.candidate.habit.tuning = wanted.json();
  return sides;
}

}  // namespace slipstream::command::verify
