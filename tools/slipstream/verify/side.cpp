#include "tools/slipstream/verify/side.h"

namespace slipstream::command::verify {
namespace {

constexpr std::string_view kSlipstream = "slipstream";
constexpr const char* kFirstWord = "hello";

std::string address(const Side& side) { return fmt::format("http://{}:{}", side.url.host, side.url.port); }

// One that refuses the field gives none.
bool gives_logprobs(const Side& side) {
  http::Client client = connect(side);
  const auto first = ask(client, side, {kFirstWord, 1, 1.0F, 1}, true);
  return first && !first->logprob_tokens.empty();
}

}  // namespace

std::string Side::words() const {
  std::string words = fmt::format("{}, model {}", address(*this), model.name);
  if (!slipstream()) return words;
  words += habit.speculate ? ", speculation on" : ", speculation off";
  if (!habit.rule.empty()) words += fmt::format(", rule {}", habit.rule);
  return habit.tuning.empty() ? words : fmt::format("{} {}", words, habit.tuning);
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
    return fail(
        "{} ran the rule {} where {} was asked for{}: rules other than coupled need a drafter that its router trusts "
        "(--trust)",
        address(side), answer->rule.empty() ? "that it does not name" : answer->rule, question.rule,
        answer->why_rule.empty() ? "" : fmt::format(" ({})", answer->why_rule));
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
  if (sides.reference.slipstream() && sides.candidate.slipstream()) return sides;
  sides.reference.logprobs = gives_logprobs(sides.reference);
  sides.candidate.logprobs = gives_logprobs(sides.candidate);
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
  sides.candidate.habit.rule = wanted.rule;
  sides.candidate.habit.tuning = wanted.json();
  return sides;
}

}  // namespace slipstream::command::verify
