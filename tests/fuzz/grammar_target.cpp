#include <bit>

#include "common/base/check.h"
#include "tests/fuzz/served_model.h"
#include "tests/fuzz/target.h"

namespace slipstream::fuzz {
namespace {

constexpr int kTokensFollowed = 12;

// Follows the grammar by a token that it allows, a few times; the input says which.
void follow(Grammar& grammar, std::string_view input) {
  for (int i = 0; i < kTokensFollowed; ++i) {
    const auto mask = grammar.allowed_after({});
    if (!mask) return;  // too complex from here on
    std::vector<TokenId> allowed;
    for (TokenId id = 0; id < served_model().vocabulary; ++id) {
      if (mask->allows(id)) allowed.push_back(id);
    }
    CHECK(!allowed.empty(), "the grammar allows nothing, and not the end");
    const TokenId next = allowed[static_cast<unsigned char>(input[static_cast<size_t>(i) % input.size()]) % allowed.size()];
    if (next == 2) return;
    const TokenId path[]{next};
    const bool known = grammar.allowed_after(path).has_value();  // else it is too complex behind the token
    const auto advanced = grammar.advance(path);
    CHECK(advanced || !known, "an allowed token is refused: {}", advanced.error().message);
    if (!advanced) return;
  }
}

}  // namespace

// The first byte says which form the rest has.
Target grammar_target() {
  return {.name = "grammar",
          .corpus =
              {R"(j{"type":"object","properties":{"a":{"type":"string","pattern":"^a+$"},"b":{"type":"integer","minimum":3}},)"
               R"("required":["a"],"additionalProperties":false})",
               R"(j{"anyOf":[{"const":1},{"enum":["a","b"]},{"$ref":"#/$defs/x"}],"$defs":{"x":{"type":"array","items":{}}}})",
               R"(j{"type":"array","minItems":1,"maxItems":3,"prefixItems":[{"type":"number","multipleOf":0.5}]})",
               "ra(b|c)*[d-f]{2,3}\\d?", "r(?i)hello|\\w+ (x|y)", "r[^a-z\\s]+\\.", "lstart: \"a\" b*\nb: /c+/ | \"d\" start",
               "lstart: x{1,3}\nx: %json {\"type\": \"integer\"}\n%ignore / /"},
          .words = {"\"type\":",
                    "\"object\"",
                    "\"string\"",
                    "\"properties\":{",
                    "\"$ref\":\"#\"",
                    "\"allOf\":[",
                    "\"not\":{",
                    "\"oneOf\":[",
                    "\"pattern\":",
                    "\"format\":\"date-time\"",
                    "\"maxItems\":99999999",
                    "\"minLength\":9999",
                    "1e308",
                    "{1000}",
                    "{0,9999}",
                    "(?:",
                    ")*",
                    "[^",
                    "\\p{L}",
                    ".*",
                    "|",
                    "start: ",
                    "\n",
                    "%json {",
                    "/",
                    "%ignore ",
                    "%lark {",
                    "[capture]",
                    "[max_tokens=1]",
                    "&",
                    "~",
                    "\\u0000",
                    "\"x-guidance\":{\"whitespace_flexible\":true}",
                    "(",
                    "[",
                    "{"},
          .run = [](std::string_view input) {
            if (input.size() < 2) return;
            const GrammarForm form = input[0] == 'r'   ? GrammarForm::regex
                                     : input[0] == 'l' ? GrammarForm::lark
                                                       : GrammarForm::json_schema;
            auto grammar = served_model().grammars->compile({form, std::string(input.substr(1))});
            if (grammar) return follow(*grammar, input);
            CHECK(!grammar.error().message.empty(), "an error without words");
          }};
}

}  // namespace slipstream::fuzz
