#include "services/router/http_api/answer.h"

#include <utility>

#include <fmt/format.h>

namespace slipstream {
namespace {

constexpr std::string_view kComment = ": the answer is on its way\n\n";

std::string event(const std::string& json) { return "data: " + json + "\n\n"; }

}  // namespace

Answer::Answer(http::Exchange exchange, const ChatRequest& request, CompletionHead head, int32_t prompt_tokens,
               Tokenizer tokenizer)
    : exchange_(std::move(exchange)),
      head_(std::move(head)),
      usage_{.prompt_tokens = prompt_tokens},
      stream_(request.stream),
      include_usage_(request.include_usage),
      continuous_usage_(request.continuous_usage),
      tell_tokens_(request.tell_tokens),
      tell_logprobs_(request.spec.top_logprobs.has_value()),
      min_tokens_(request.spec.logits_params.min_tokens),
      tokenizer_(std::move(tokenizer)),
      detokenizer_(tokenizer_),
      stops_(request.stops) {}

Answer::Next Answer::deliver(const Delivery& delivery, uint16_t draft_nodes_max) {
  if (auto done = read(delivery); !done) {
    fail({.status = 500, .code = std::string(kDetokenizeFailed), .message = done.error().message});
    return Next::abandon_failed;
  }
  const bool ended = !reason_.empty();
  if (ended) exchange_.annotate(note());
  const CompletionJson json(head_, delivery, draft_nodes_max);
  if (stream_) {
    write_chunks(json, ended);
  } else if (ended) {
    exchange_.send(json_response(json.whole(text_, reason_, usage_, facts())));
  }
  if (!ended) return Next::more;
  return delivery.finish == Finish::none ? Next::abandon_stopped : Next::done;
}

// Tokens are read one by one, so that a stop string ends their count exactly where it was met.
Result<void> Answer::read(const Delivery& delivery) {
  for (size_t i = 0; i < delivery.ids.size(); ++i) {
    ++usage_.completion_tokens;
    usage_.guessed_tokens += delivery.drafted[i];
    if (tell_tokens_) {
      tokens_.ids.push_back(delivery.ids[i]);
      tokens_.drafted.push_back(delivery.drafted[i]);
      tokens_.depths.push_back(delivery.depths[i]);
    }
    if (tell_logprobs_) tell_logprob(delivery.ids[i], delivery.logprobs[i]);
    TRY(std::string piece, detokenizer_.push(delivery.ids[i]));
    if (usage_.completion_tokens <= min_tokens_) {
      show(std::move(piece));
      continue;
    }
    auto shown = stops_.push(piece);
    show(std::move(shown.text));
    if (shown.stopped) {
      reason_ = "stop";
      return {};
    }
  }
  if (delivery.finish == Finish::none) return {};
  auto last = stops_.push(detokenizer_.flush());
  if (!last.stopped) last.text += stops_.flush();
  if (!last.text.empty()) show(std::move(last.text));
  reason_ = last.stopped || delivery.finish == Finish::stop ? "stop" : "length";
  return {};
}

// A model may have more rows than its tokenizer has tokens. The other rows have no bytes.
void Answer::tell_logprob(TokenId id, const TokenLogprob& logprob) {
  const auto told = [this](const Logprob& of) {
    return LogprobFacts::Token{std::string(tokenizer_.piece(of.id).value_or("")), of.logprob};
  };
  LogprobFacts& facts = logprobs_.emplace_back(LogprobFacts{.token = told({id, logprob.logprob}), .top = {}});
  for (const Logprob& other : logprob.top) facts.top.push_back(told(other));
}

void Answer::show(std::string piece) {
  text_ += piece;
  if (tell_tokens_) tokens_.pieces.push_back(std::move(piece));
}

void Answer::begin_stream() {
  if (!std::exchange(begun_, true)) exchange_.begin_stream("text/event-stream");
}

void Answer::still_here() {
  if (!stream_) return;
  begin_stream();
  exchange_.write(std::string(kComment));
}

void Answer::write_chunks(const CompletionJson& json, bool ended) {
  begin_stream();
  std::string out;
  if (!std::exchange(role_told_, true)) out += event(json.role(chunk_usage()));
  if (!text_.empty() || !tokens_.ids.empty() || !logprobs_.empty()) out += event(json.text(text_, facts(), chunk_usage()));
  text_.clear();
  tokens_ = {};
  logprobs_.clear();
  if (ended) {
    out += event(json.finish(reason_, chunk_usage(), !include_usage_));
    if (include_usage_) out += event(json.usage(usage_));
    out += event("[DONE]");
  }
  if (!out.empty()) exchange_.write(std::move(out));
  if (ended) exchange_.end();
}

CompletionJson::ChunkUsage Answer::chunk_usage() const {
  using enum CompletionJson::UsageField;
  if (continuous_usage_) return {given, usage_};
  return {include_usage_ ? null : absent, usage_};
}

// For the access log. It has no word of the prompt or of the answer.
std::string Answer::note() const {
  return fmt::format("{}, prompt {} tokens, answer {}, {} of them drafted, {}", head_.id, usage_.prompt_tokens,
                     usage_.completion_tokens, usage_.guessed_tokens, reason_.empty() ? "not finished" : reason_);
}

void Answer::fail(const Failure& failure) {
  const ApiError error = api_error(failure);
  exchange_.annotate(fmt::format("{}: {} {}", note(), failure.code, failure.message));
  if (!begun_) return exchange_.send(error_response(error));
  exchange_.write(event(error_json(error)));
  exchange_.end();
}

}  // namespace slipstream
