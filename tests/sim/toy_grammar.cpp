#include "tests/sim/toy_grammar.h"

#include <string>
#include <vector>

#include <fmt/format.h>

#include "tests/sim/toy_model.h"

namespace slipstream::sim {
namespace {

Grammars make() {
  std::string letters;
  for (TokenId token = 1; token < kToyVocabulary; ++token) {
    letters += fmt::format(",\"{}\":{}", static_cast<char>('a' + token - 1), token);
  }
  const std::string json = fmt::format(
      R"({{"version":"1.0","added_tokens":[{{"id":{0},"content":"<end>","single_word":false,"lstrip":false,"rstrip":false,)"
      R"("normalized":false,"special":true}}],"normalizer":null,"pre_tokenizer":{{"type":"ByteLevel","add_prefix_space":false,)"
      R"("trim_offsets":true,"use_regex":false}},"post_processor":null,"decoder":{{"type":"ByteLevel","add_prefix_space":false,)"
      R"("trim_offsets":true,"use_regex":false}},"model":{{"type":"BPE","vocab":{{"<end>":{0}{1}}},"merges":[]}}}})",
      kToyStop, letters);
  const Tokenizer tokenizer = Tokenizer::parse(json, "the toy tokenizer").value();
  return Grammars::make(tokenizer, std::vector{kToyStop}, kToyVocabulary).value();
}

}  // namespace

const Grammars& toy_grammars() {
  static const Grammars grammars = make();
  return grammars;
}

}  // namespace slipstream::sim
