#include "common/grammar/grammar.h"

#include <algorithm>
#include <string>

#include "common/text/rust_bridge.h"
#include "common/text/utf8.h"

namespace slipstream {
namespace {

// Ids are never negative here, so they have the same bits unsigned.
const uint32_t* unsigned_ids(std::span<const TokenId> ids) { return reinterpret_cast<const uint32_t*>(ids.data()); }

constexpr size_t kSentenceBytesMax = 200, kCauseBytesMax = 90;

std::string shortened(std::string words, size_t bytes) {
  return words.size() <= bytes ? words : lossy_utf8(words.substr(0, bytes)) + "...";
}

// The library goes on with the place in the grammar, on lines of their own. Of a regular expression
// it draws the place first, and says only then what is wrong there.
Error error_of(SlipstreamBytes error) {
  static constexpr std::string_view kCause = "\nerror: ";
  const std::string lines = taken(error);
  std::string sentence = shortened(lines.substr(0, lines.find('\n')), kSentenceBytesMax);
  if (const size_t at = lines.find(kCause); at != std::string::npos) {
    const std::string cause = lines.substr(at + kCause.size());
    sentence += " " + shortened(cause.substr(0, cause.find('\n')), kCauseBytesMax);
  }
  return {sentence};
}

std::unexpected<Error> failed(SlipstreamBytes error) { return std::unexpected(error_of(error)); }

}  // namespace

void Grammar::Free::operator()(SlipstreamGrammar* grammar) const { slipstream_grammar_free(grammar); }

Result<TokenMask> Grammar::allowed_after(std::span<const TokenId> path) const {
  TokenMask mask(vocabulary_);
  SlipstreamBytes error;
  const std::span words = mask.words();
  const SlipstreamGrammar* grammar = grammar_.get();
  if (!slipstream_grammar_mask(grammar, unsigned_ids(path), path.size(), words.data(), words.size(), &work_ns_, &error)) {
    return failed(error);
  }
  return mask;
}

Result<void> Grammar::advance(std::span<const TokenId> tokens) {
  SlipstreamBytes error;
  if (slipstream_grammar_advance(grammar_.get(), unsigned_ids(tokens), tokens.size(), &error)) return {};
  return failed(error);
}

Grammar Grammar::begun() const {
  Grammar begun(slipstream_grammar_begun(grammar_.get()), vocabulary_);
  begun.first_ = first_;
  return begun;
}

Result<Grammars> Grammars::make(const Tokenizer& tokenizer, std::span<const TokenId> eos_ids, int32_t vocabulary) {
  if (vocabulary < tokenizer.vocabulary()) {
    return fail("the model has {} tokens, its tokenizer {}", vocabulary, tokenizer.vocabulary());
  }
  SlipstreamBytes error;
  SlipstreamGrammars* grammars = slipstream_grammars_new(tokenizer.rust(), unsigned_ids(eos_ids), eos_ids.size(), &error);
  if (grammars == nullptr) return failed(error);
  return Grammars(std::shared_ptr<const SlipstreamGrammars>(grammars, [=](auto*) { slipstream_grammars_free(grammars); }),
                  vocabulary);
}

std::expected<Grammar, GrammarError> Grammars::compile(const GrammarText& text) const {
  SlipstreamBytes error;
  bool lasting = false;
  SlipstreamGrammar* made =
      slipstream_grammar_compile(grammars_.get(), static_cast<uint32_t>(text.form), slice_of(text.text), &lasting, &error);
  if (made == nullptr) return std::unexpected(GrammarError{error_of(error), lasting});
  Grammar grammar(made, vocabulary_);
  auto first = grammar.allowed_after({});
  if (!first) return std::unexpected(GrammarError{std::move(first.error()), true});
  grammar.first_ = std::make_shared<const TokenMask>(*std::move(first));
  return grammar;
}

}  // namespace slipstream
