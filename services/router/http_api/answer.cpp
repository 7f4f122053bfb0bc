#include "services/router/http_api/answer.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace slipstream {
namespace {

constexpr int kSilentDeliveries = 32;  // without a byte for the client: then it is shown that the answer is coming

}  // namespace

Answer::Answer(http::Exchange exchange, const GenerationRequest& request, Voice voice, int32_t prompt_tokens)
    : exchange_(std::move(exchange)),
      voice_(std::move(voice)),
      prompt_tokens_(prompt_tokens),
      stream_(request.stream),
      choices_(request.choices),
      best_(request.best),
      stops_(std::make_shared<const StopAutomaton>(request.stops)) {}

void Answer::add(std::vector<Submit> submits, const GenerationRequest& request, const Tokenizer& tokenizer,
                 const std::string& echo) {
  const size_t first = parts_.size();
  for (const Submit& submit : submits) {
    const bool begins = std::ranges::all_of(submit.prompt, [&](TokenId id) { return tokenizer.is_special(id); });
    Choice::Place place{.leads = parts_.size() == first, .begins_text = begins, .echo = echo};
    if (request.spec.prompt_logprobs) place.prompt = submit.prompt;
    parts_.push_back({.request = submit.request, .choice = {request, stops_, tokenizer, std::move(place)}});
  }
  submits.erase(submits.begin());
  parts_[first].followers = std::move(submits);
}

Answer::Next Answer::deliver(Delivery delivery) {
  const auto at = std::ranges::find(parts_, delivery.request, &Part::request);
  const bool stopped_early = delivery.finish == Finish::none;
  if (!delivery.ids.empty()) voice_.format->tokens_came();
  if (auto done = at->choice.read(std::move(delivery)); !done) {
    fail({.status = 500, .message = done.error().message, .code = std::string(kDetokenizeFailed)});
    return Next::abandon_failed;
  }
  const AnswerState state = this->state();
  if (state.ended()) {
    exchange_.annotate(note());
    voice_.pass.reset();  // before the client knows that it may ask again
  }
  if (stream_) {
    write_news(static_cast<int>(at - parts_.begin()), state);
    at->choice.forget();
  } else if (state.ended()) {
    exchange_.send(json_response(voice_.format->whole(state)));
  }
  if (!at->choice.ended()) return Next::more;
  return stopped_early ? Next::abandon_stopped : Next::done;
}

AnswerState Answer::state() const {
  AnswerState state{.prompt_tokens = prompt_tokens_};
  for (const Part& part : parts_) state.choices.push_back(&part.choice);
  if (best_ > 0 && state.ended()) keep_best(state);
  return state;
}

// Of each prompt's choices, the best ones, the very best first.
void Answer::keep_best(AnswerState& state) const {
  const std::vector<const Choice*> all = std::exchange(state.choices, {});
  for (size_t first = 0; first < all.size(); first += static_cast<size_t>(choices_)) {
    std::vector<const Choice*> group(all.begin() + static_cast<std::ptrdiff_t>(first),
                                     all.begin() + static_cast<std::ptrdiff_t>(first) + choices_);
    std::ranges::stable_sort(group, std::ranges::greater{}, &Choice::mean_logprob);
    state.choices.insert(state.choices.end(), group.begin(), group.begin() + best_);
    state.others.insert(state.others.end(), group.begin() + best_, group.end());
  }
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

void Answer::begin_stream(const AnswerState& state) {
  if (std::exchange(begun_, true)) return;
  exchange_.begin_stream(std::string(voice_.format->stream_type()));
  if (std::string out = voice_.format->begin(state); !out.empty()) exchange_.write(std::move(out));
}

void Answer::still_here() {
  if (!stream_) return;
  begin_stream(state());
  exchange_.write(voice_.format->awake());
}

// While text is held that may become a call, a client sees that the stream is awake.
void Answer::write_news(int index, const AnswerState& state) {
  begin_stream(state);
  std::string out = voice_.format->news(index, state);
  if (out.empty() && ++silent_ % kSilentDeliveries == 0) out = voice_.format->awake();
  if (!out.empty()) exchange_.write(std::move(out));
  if (state.ended()) exchange_.end();
}

// For the access log. It has no word of the prompt or of the answer.
std::string Answer::note() const {
  const Usage usage = state().totals().usage;
  std::string reasons;
  for (const Part& part : parts_) reasons += (part.choice.ended() ? " " + part.choice.reason() : " not finished");
  return fmt::format("{}, prompt {} tokens, answer {}, {} of them drafted,{}", voice_.id, usage.prompt_tokens,
                     usage.completion_tokens, usage.guessed_tokens, reasons);
}

void Answer::fail(ApiError error) {
  voice_.pass.reset();
  error = voice_.names.renamed(std::move(error));
  exchange_.annotate(fmt::format("{}: {} {}", note(), error.code, error.message));
  if (!begun_) return exchange_.send(error_response(error, voice_.format->error_shape()));
  exchange_.write(voice_.format->failure(error, state()));
  exchange_.end();
}

}  // namespace slipstream
