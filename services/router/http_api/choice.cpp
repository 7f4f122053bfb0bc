#include "services/router/http_api/choice.h"

#include <algorithm>
#include <utility>

namespace slipstream {
Choice::Choice(const GenerationRequest& request, std::shared_ptr<const StopAutomaton> stops, Tokenizer tokenizer, Place place)
    : leads_(place.leads),
      tell_tokens_(request.tell_tokens),
      tell_logprobs_(request.tells_logprobs),
      tell_text_logprobs_(request.tells_text_logprobs),
      lists_prompt_(request.lists_prompt),
      tells_prompt_(request.tells_prompt_logprobs),
      scores_only_(request.scores_only),
      shows_special_(request.shows_special),
      trees_most_(request.spec.trees),
      min_tokens_(request.spec.logits_params.min_tokens),
      tokenizer_(std::move(tokenizer)),
      detokenizer_(tokenizer_, place.begins_text),
      stops_(std::move(stops), request.shows_stop),
      reasoning_(request.reasoning),
      tools_(request.tool_format),
      parallel_calls_(request.parallel_tool_calls),
      calls_only_(request.must_call),
      calls_or_document_(request.calls_or_document),
      prompt_(std::move(place.prompt)),
      characters_(characters_of(place.echo)),
      text_(std::move(place.echo)) {
  read_prompt({});
}

void Choice::read_prompt(std::span<const TokenLogprob> logprobs) {
  prompt_.add(logprobs, tokenizer_);
  if (prompt_.complete()) prompt_facts_ = prompt_.facts(characters_, tokenizer_);
}

Result<void> Choice::read(Delivery delivery) {
  const auto ids = std::exchange(delivery.ids, {});
  const auto drafted = std::exchange(delivery.drafted, {});
  const auto depths = std::exchange(delivery.depths, {});
  const auto logprobs = std::exchange(delivery.logprobs, {});
  const auto prompt_logprobs = std::exchange(delivery.prompt_logprobs, {});
  auto trees = std::exchange(delivery.trees, {});
  newest_ = std::move(delivery);
  if (!prompt_logprobs.empty()) read_prompt(prompt_logprobs);
  if (scores_only_) {
    if (newest_.finish != Finish::none) end("length");
    return {};
  }
  for (size_t i = 0; i < ids.size(); ++i) {
    ++tokens_read_;
    const bool thinks = reasoning_.inside(), calls = tools_.in_call();
    guessed_ += drafted[i];
    if (tell_tokens_) {
      tokens_.ids.push_back(ids[i]);
      tokens_.drafted.push_back(drafted[i]);
      tokens_.depths.push_back(depths[i]);
      if ((tell_logprobs_ || tell_text_logprobs_) && !logprobs.empty()) tokens_.ranks.push_back(logprobs[i].rank);
    }
    if (!logprobs.empty()) logprob_sum_ += logprobs[i].logprob;
    if (tell_logprobs_) tell_logprob(ids[i], logprobs[i]);
    const bool ends = newest_.finish == Finish::stop && i + 1 == ids.size();
    TRY(std::string piece, detokenizer_.push(ids[i], shows_special_ && !ends));
    const bool may_stop = tokens_read_ > min_tokens_;
    auto shown = may_stop ? stops_.push(piece) : StopStrings::Piece{.text = std::move(piece)};
    show(std::move(shown.text));
    const bool thought = thinks || reasoning_.inside();
    reasoning_tokens_ += thought ? 1 : 0;
    if (tell_text_logprobs_ && !logprobs.empty() && !thought && !ends) {  // one that ends the answer is no text
      unplaced_.push_back(logprob_facts(ids[i], logprobs[i]));
      place_logprobs();
      if (calls || tools_.in_call()) unplaced_.clear();
    }
    if (shown.stopped) {
      stop_string_ = std::move(shown.stop);
      tell_trees(std::move(trees));
      for (TreeFacts& each : trees_) end_behind(each.report, tokens_read_ - each.report.first_index);
      end("stop");
      return {};
    }
  }
  tell_trees(std::move(trees));
  if (newest_.finish == Finish::none) return {};
  auto last = stops_.push(detokenizer_.flush());
  if (!last.stopped) last.text += stops_.flush();
  stop_string_ = std::move(last.stop);
  if (!last.text.empty()) show(std::move(last.text));
  end(last.stopped || newest_.finish == Finish::stop ? "stop" : "length");
  return {};
}

void Choice::end(std::string reason) {
  take(reasoning_.flush());
  take(tools_.flush());
  place_logprobs();
  reason_ = calls_begun_ > 0 && reason == "stop" ? "tool_calls" : std::move(reason);
}

void Choice::take(const ReasoningReader::Piece& piece) {
  reasoning_text_ += piece.reasoning;
  take(tools_.push(piece.text));
}

// What a call was cut in before its arguments began is no text either, if a call is required or if
// no document begins so.
void Choice::take(ToolCallReader::Piece piece) {
  if (calls_or_document_ && (!piece.calls.empty() || !piece.text.empty())) {
    calls_or_document_ = false;
    calls_only_ = !piece.calls.empty() || !may_begin_document(piece.text);
  }
  if (calls_only_) {
    piece.text.clear();
    for (ToolCall& call : piece.calls) call.text_before = 0;
  }
  for (ToolCall& call : piece.calls) {
    calls_begun_ += call.begins ? 1 : 0;
    if (calls_begun_ > 1 && !parallel_calls_) continue;
    call.text_before += text_.size();
    add_part(calls_, std::move(call));
  }
  text_ += piece.text;
}

int Choice::first_call() const {
  const auto begun = static_cast<int>(std::ranges::count_if(calls_, &ToolCall::begins));
  const bool goes_on = !calls_.empty() && !calls_.front().begins;
  return (parallel_calls_ ? calls_begun_ : std::min(calls_begun_, 1)) - begun - (goes_on ? 1 : 0);
}

// A model may have more rows than its tokenizer has tokens. The other rows have no bytes.
LogprobFacts Choice::logprob_facts(TokenId id, const TokenLogprob& logprob) const {
  const auto told = [this](const Logprob& of) {
    return LogprobFacts::Token{std::string(tokenizer_.piece(of.id).value_or("")), of.logprob, of.id};
  };
  LogprobFacts facts{.token = told({id, logprob.logprob}), .top = {}, .offset = characters_ - detokenizer_.dropped()};
  for (const Logprob& other : logprob.top) facts.top.push_back(told(other));
  return facts;
}

void Choice::tell_logprob(TokenId id, const TokenLogprob& logprob) {
  logprobs_.push_back(logprob_facts(id, logprob));
  characters_ += characters_of(logprobs_.back().token.bytes);
}

// A token is text if text became final with it, or with a later one before any call.
void Choice::place_logprobs() {
  if (text_.size() == placed_) return;
  placed_ = text_.size();
  for (LogprobFacts& each : unplaced_) {
    each.text_end = placed_;
    text_logprobs_.push_back(std::move(each));
  }
  unplaced_.clear();
}

// Rounds that began behind a stop string are none of the answer.
void Choice::tell_trees(std::vector<TreeReport> trees) {
  std::erase_if(trees, [this](const TreeReport& tree) { return tree.first_index >= tokens_read_; });
  for (TreeReport& tree : trees) trees_.push_back(facts_of(std::move(tree), tokenizer_));
  keep_newest(trees_, trees_most_);
}

void Choice::show(std::string piece) {
  take(reasoning_.push(piece));
  if (tell_tokens_) tokens_.pieces.push_back(std::move(piece));
}

void Choice::forget() {
  if (!prompt_.complete()) return;
  prompt_facts_.clear();
  reasoning_text_.clear();
  text_.clear();
  calls_.clear();
  tokens_ = {};
  logprobs_.clear();
  text_logprobs_.clear();
  placed_ = 0;
  trees_.clear();
}

}  // namespace slipstream
