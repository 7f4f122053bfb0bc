// The grammar that an answer must follow, as text. Plain data: common/grammar compiles it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace slipstream {

// How a verifier's errors name the grammar. It does not know which field of the request asked for
// one, so the HTTP API puts the field's name in its place.
inline constexpr std::string_view kGrammarField = "grammar";

enum class GrammarForm : uint8_t {
  json_schema,  // a JSON schema; {} is any JSON
  regex,        // a regular expression (the crate `regex`, without look-around), of the whole answer
  lark          // rules in llguidance's variant of Lark's form; the first one is `start`
};

struct GrammarText {
  GrammarForm form = GrammarForm::json_schema;
  std::string text;  // empty: no grammar
  bool empty() const { return text.empty(); }
  bool operator==(const GrammarText&) const = default;
};

}  // namespace slipstream
