// Which tokens may come next in a text that must follow a grammar, over the Rust crate llguidance
// (in common/text/rust).
//
//   TRY(const Grammars grammars, Grammars::make(tokenizer, eos_ids, vocabulary));
//   TRY(Grammar grammar, grammars.compile({GrammarForm::json_schema, R"({"type": "integer"})"}));
//   TRY(const TokenMask first, grammar.allowed_after({}));
//   TRY_VOID(grammar.advance(tokens));
//
// A mask depends on the grammar and the tokens behind it alone. Where a grammar leaves one text
// only, the mask leaves one token: that with which the tokenizer writes the text.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <string_view>

#include "common/base/grammar_text.h"
#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/sampling/token_mask.h"
#include "common/text/tokenizer.h"

struct SlipstreamGrammar;   // common/text/rust_bridge.h
struct SlipstreamGrammars;  // common/text/rust_bridge.h

namespace slipstream {

// The library whose masks these are. Another version may allow other tokens, so verifiers that
// continue each other's answers need the same one.
inline constexpr std::string_view kGrammarLibrary = "llguidance 1.9.1";

// The text so far, and what may follow it. Not thread-safe.
class Grammar {
 public:
  // The tokens that may come behind the text and `path`. A token that ends an answer is allowed
  // where the grammar is complete, other special tokens nowhere. Takes some 50 us, at most about
  // 0.3 s. An error: `path` is not allowed, or the grammar is too complex here. Nothing that was
  // asked about a path changes what is allowed behind another.
  Result<TokenMask> allowed_after(std::span<const TokenId> path) const;
  // [ns] about what the last of these calls took, reckoned from counts, so that it is the same on
  // every machine; a second if it failed.
  uint64_t work_ns() const { return work_ns_; }

  // The text goes on with these tokens. REQUIRES: the masks allow them, and none ends the answer;
  // an error otherwise, or if the grammar is too complex behind them. After it every call is one.
  Result<void> advance(std::span<const TokenId> tokens);

  // What allowed_after({}) was at the beginning. Thread-safe.
  const TokenMask& first() const { return *first_; }

  // The same grammar, at its beginning. What becomes of one text changes no other.
  Grammar begun() const;

 private:
  friend class Grammars;
  struct Free {
    void operator()(SlipstreamGrammar* grammar) const;
  };
  Grammar(SlipstreamGrammar* grammar, int32_t vocabulary) : grammar_(grammar), vocabulary_(vocabulary) {}

  std::unique_ptr<SlipstreamGrammar, Free> grammar_;
  int32_t vocabulary_ = 0;
  mutable uint64_t work_ns_ = 0;
  std::shared_ptr<const TokenMask> first_;
};

// Why there is no grammar.
struct GrammarError : Error {
  bool lasting = true;  // it is the text's fault, whenever it is compiled; else this machine's, now
};

// Compiles grammars for one model. Thread-safe; copies share one table.
class Grammars {
 public:
  // vocabulary: of the model, whose rows of logits may be longer than the tokenizer's vocabulary;
  // the ids beyond are never allowed. An error if it is shorter, or if the model has no token that
  // ends an answer. Takes some 0.1 s.
  static Result<Grammars> make(const Tokenizer& tokenizer, std::span<const TokenId> eos_ids, int32_t vocabulary);

  // An error says what in the grammar is wrong, is not supported or is too large. Takes a few
  // milliseconds, a second at worst, whatever the text is.
  std::expected<Grammar, GrammarError> compile(const GrammarText& text) const;

 private:
  Grammars(std::shared_ptr<const SlipstreamGrammars> grammars, int32_t vocabulary)
      : grammars_(std::move(grammars)), vocabulary_(vocabulary) {}

  std::shared_ptr<const SlipstreamGrammars> grammars_;
  int32_t vocabulary_ = 0;
};

}  // namespace slipstream
