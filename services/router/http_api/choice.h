// One choice of an answer: turns the tokens that a verifier delivers into text, up to a stop
// string.
// Threads: constructed on the text thread; from then on only the loop's thread uses it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/text/detokenizer.h"
#include "common/text/stop_strings.h"
#include "services/router/http_api/choice_facts.h"
#include "services/router/http_api/generation_request.h"
#include "services/router/http_api/prompt_logprobs.h"
#include "services/router/request.h"

namespace slipstream {

class Choice {
 public:
  struct Place {
    bool leads = true;                 // it is the first of its prompt, which the others find in the prefix cache
    bool begins_text = false;          // the prompt has no text, special tokens at most
    std::string echo = {};             // text that comes before the answer's
    std::vector<TokenId> prompt = {};  // if logprobs of its tokens will come: they are told before all else
  };
  // stops: of the request.
  Choice(const GenerationRequest& request, std::shared_ptr<const StopAutomaton> stops, Tokenizer tokenizer, Place place);

  // Nothing is told before all logprobs of the prompt are here.
  // Reads the tokens one by one, so that a stop string ends their count exactly where it was met.
  // Errors: a token that the tokenizer does not have.
  Result<void> read(Delivery delivery);

  bool ended() const { return !reason_.empty(); }
  const std::string& reason() const { return reason_; }             // "stop", "length" or "tool_calls"; "": the choice goes on
  const std::string& stop_string() const { return stop_string_; }   // that ended it; "": none did
  const std::string& reasoning() const { return reasoning_text_; }  // since the last forget()
  const std::string& text() const { return text_; }                 // since the last forget(); without calls of tools
  // Calls since the last forget(); the first may go on with one from before it. Each says what part
  // of text() stands before it.
  const std::vector<ToolCall>& calls() const { return calls_; }
  int first_call() const;  // the number of the first of calls(), among all of the choice
  Facts facts() const {
    return {.tokens = tell_tokens_ ? &tokens_ : nullptr,
            .logprobs = tell_logprobs_ ? &logprobs_ : nullptr,
            .prompt = lists_prompt_ ? &prompt_facts_ : nullptr,
            .text = tell_text_logprobs_ ? &text_logprobs_ : nullptr,
            .trees = trees_most_ > 0 ? &trees_ : nullptr};
  }
  int32_t trees_most() const { return trees_most_; }  // 0: none were asked for
  const std::vector<LogprobFacts>* own_prompt_logprobs() const { return tells_prompt_ ? &prompt_facts_ : nullptr; }
  bool has_news() const {
    if (!prompt_.complete()) return false;
    return !prompt_facts_.empty() || !reasoning_text_.empty() || !text_.empty() || !calls_.empty() || !tokens_.ids.empty() ||
           !logprobs_.empty() || !trees_.empty();
  }
  void forget();  // what was told so far was written

  bool leads() const { return leads_; }
  // Of its tokens, if the verifier told their logprobs; the likeliest text has the highest.
  double mean_logprob() const { return tokens_read_ == 0 ? 0 : logprob_sum_ / tokens_read_; }
  const Delivery& newest() const { return newest_; }  // without its tokens: the report, the rule, the backend
  int32_t tokens() const { return tokens_read_; }
  int32_t reasoning_tokens() const { return reasoning_tokens_; }  // of the tokens
  uint32_t guessed() const { return guessed_; }                   // of the tokens, those that a drafter had guessed

 private:
  void show(std::string piece);
  void take(const ReasoningReader::Piece& piece);
  void take(ToolCallReader::Piece piece);
  void end(std::string reason);
  LogprobFacts logprob_facts(TokenId id, const TokenLogprob& logprob) const;
  void tell_logprob(TokenId id, const TokenLogprob& logprob);
  void place_logprobs();
  void tell_trees(std::vector<TreeReport> trees);
  void read_prompt(std::span<const TokenLogprob> logprobs);

  bool leads_, tell_tokens_, tell_logprobs_, tell_text_logprobs_, lists_prompt_, tells_prompt_;
  bool scores_only_;  // its tokens are not told
  bool shows_special_;
  int32_t trees_most_;  // told at once; 0: none are
  int32_t min_tokens_;  // no stop string begins in the text of the first min_tokens_ tokens
  Tokenizer tokenizer_;
  Detokenizer detokenizer_;
  StopStrings stops_;
  ReasoningReader reasoning_;
  ToolCallReader tools_;
  bool parallel_calls_;
  bool calls_only_;         // text is none of the answer
  bool calls_or_document_;  // and that is not known yet; then calls_only_, or text

  int32_t tokens_read_ = 0, reasoning_tokens_ = 0;
  uint32_t guessed_ = 0;
  double logprob_sum_ = 0;
  PromptLogprobs prompt_;
  int32_t characters_ = 0;  // of the tokens so far and of what comes before them
  std::string reason_, stop_string_;
  std::string reasoning_text_, text_;
  std::vector<ToolCall> calls_;
  int calls_begun_ = 0;  // in all, those beyond the only one that may be called, too
  TokenFacts tokens_;
  std::vector<LogprobFacts> logprobs_, prompt_facts_, text_logprobs_;
  std::vector<LogprobFacts> unplaced_;  // of tokens whose text is held: they may be text or none
  size_t placed_ = 0;                   // bytes of text_ whose tokens are in text_logprobs_
  std::vector<TreeFacts> trees_;
  Delivery newest_;
};

}  // namespace slipstream
