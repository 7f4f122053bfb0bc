#include "services/router/http_api/answer.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace slipstream {
namespace {

constexpr std::string_view kComment = ": the answer is on its way\n\n";

constexpr int kSilentDeliveries = 32;  // without a byte for the client: then a comment says that it is alive

std::string event(const std::string& json) { return "data: " + json + "\n\n"; }

}  // namespace

Answer::Answer(http::Exchange exchange, const GenerationRequest& request, CompletionHead head, int32_t prompt_tokens,
               uint16_t draft_nodes_max)
    : exchange_(std::move(exchange)),
      head_(std::move(head)),
      prompt_tokens_(prompt_tokens),
      draft_nodes_max_(draft_nodes_max),
      grammar_field_(request.grammar_field),
      stream_(request.stream),
      include_usage_(request.include_usage),
      continuous_usage_(request.continuous_usage),
      stops_(std::make_shared<const StopAutomaton>(request.stops)) {}

void Answer::add(std::vector<Submit> submits, const GenerationRequest& request, const Tokenizer& tokenizer,
                 const std::string& echo) {
  const size_t first = parts_.size();
  for (const Submit& submit : submits)
    parts_.push_back({.request = submit.request, .choice = {request, stops_, tokenizer, echo}});
  submits.erase(submits.begin());
  parts_[first].first = true;
  parts_[first].followers = std::move(submits);
}

Answer::Next Answer::deliver(Delivery delivery) {
  const auto at = std::ranges::find(parts_, delivery.request, &Part::request);
  const bool stopped_early = delivery.finish == Finish::none;
  if (auto done = at->choice.read(std::move(delivery)); !done) {
    fail({.status = 500, .message = done.error().message, .code = std::string(kDetokenizeFailed)});
    return Next::abandon_failed;
  }
  const bool over = at->choice.ended();
  if (ended()) exchange_.annotate(note());
  if (stream_) {
    write_chunks(static_cast<int>(at - parts_.begin()), *at);
  } else if (ended()) {
    write_whole();
  }
  if (!over) return Next::more;
  return stopped_early ? Next::abandon_stopped : Next::done;
}

bool Answer::ended() const {
  return std::ranges::all_of(parts_, [](const Part& part) { return part.choice.ended(); });
}

std::vector<Submit> Answer::followers_of(RequestId request) {
  const auto at = std::ranges::find(parts_, request, &Part::request);
  return at == parts_.end() ? std::vector<Submit>() : std::exchange(at->followers, {});
}

std::vector<RequestId> Answer::requests() const {
  std::vector<RequestId> all;
  for (const Part& part : parts_) all.push_back(part.request);
  return all;
}

Totals Answer::totals() const {
  Totals totals{.usage = {.prompt_tokens = prompt_tokens_}};
  for (const Part& part : parts_) {
    totals.usage.completion_tokens += part.choice.tokens();
    totals.usage.guessed_tokens += part.choice.guessed();
    totals.add(part.choice.newest(), part.first);
  }
  return totals;
}

void Answer::begin_stream() {
  if (!std::exchange(begun_, true)) exchange_.begin_stream("text/event-stream");
}

void Answer::still_here() {
  if (!stream_) return;
  begin_stream();
  exchange_.write(std::string(kComment));
}

void Answer::write_chunks(int index, Part& part) {
  begin_stream();
  using enum CompletionJson::UsageField;
  const auto usage = continuous_usage_ ? given : include_usage_ ? null : absent;
  const CompletionJson::ChunkUsage so_far{usage, continuous_usage_ ? totals().usage : Usage{}};
  const CompletionJson json = this->json();
  Choice& choice = part.choice;
  std::string out;
  if (!std::exchange(part.role_told, true) && head_.kind == ApiKind::chat) out += event(json.role(index, choice, so_far));
  if (choice.has_news()) out += event(json.text(index, choice, so_far));
  choice.forget();
  const bool told_with_usage = include_usage_ && parts_.size() == 1;
  if (choice.ended()) out += event(json.finish(index, choice, so_far, !told_with_usage));
  if (ended()) {
    if (include_usage_) out += event(json.usage(choice, totals()));
    out += event("[DONE]");
  }
  // Of a call that is held until it is whole, a client sees comments.
  if (out.empty() && ++silent_ % kSilentDeliveries == 0) out = kComment;
  if (!out.empty()) exchange_.write(std::move(out));
  if (ended()) exchange_.end();
}

void Answer::write_whole() {
  std::vector<const Choice*> choices;
  for (const Part& part : parts_) choices.push_back(&part.choice);
  exchange_.send(json_response(json().whole(choices, totals())));
}

// For the access log. It has no word of the prompt or of the answer.
std::string Answer::note() const {
  const Usage usage = totals().usage;
  std::string reasons;
  for (const Part& part : parts_) reasons += (part.choice.ended() ? " " + part.choice.reason() : " not finished");
  return fmt::format("{}, prompt {} tokens, answer {}, {} of them drafted,{}", head_.id, usage.prompt_tokens,
                     usage.completion_tokens, usage.guessed_tokens, reasons);
}

void Answer::fail(ApiError error) {
  if (error.param == kGrammarField && !grammar_field_.empty()) {  // verifiers do not know which field asked for it
    const std::string general = fmt::format("`{}`", kGrammarField);
    if (const size_t at = error.message.find(general); at != std::string::npos) {
      error.message.replace(at, general.size(), fmt::format("`{}`", grammar_field_));
    }
    error.param = grammar_field_;
  }
  exchange_.annotate(fmt::format("{}: {} {}", note(), error.code, error.message));
  if (!begun_) return exchange_.send(error_response(error));
  exchange_.write(event(error_json(error)));
  exchange_.end();
}

}  // namespace slipstream
