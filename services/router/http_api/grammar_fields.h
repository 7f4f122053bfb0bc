// Reads the fields that ask for structured output, and makes a grammar of them (common/grammar):
//
//   response_format      {"type": "json_object"}, {"type": "json_schema", "json_schema": {"schema": {...}}}   OpenAI
//   response_format      {"type": "json_object", "schema": {...}}                                             llama.cpp
//   structured_outputs   {"json": ...}, "regex", "choice", "grammar" or "json_object"                         vLLM
//   guided_json, guided_regex, guided_choice, guided_grammar                                                  vLLM before 0.12
//   json_schema          {...}                                                                                llama.cpp
#pragma once

#include <string>
#include <vector>

#include "common/base/grammar_text.h"
#include "services/router/http_api/request_fields.h"

namespace slipstream {

struct AskedGrammar {
  GrammarText grammar;               // empty: the request asks for none
  std::string field;                 // that asked for it, for errors
  std::vector<std::string> ignored;  // unknown keys of `structured_outputs` and `response_format`, with their path
};

// Errors name the field: its type is wrong, it has too many bytes, or another one asks for a
// grammar, too. Whether the grammar can be compiled is checked later.
ApiResult<AskedGrammar> read_grammar(const RequestFields& fields);

// A grammar of exactly these texts, in Lark's form.
std::string lark_of(std::span<const std::string> texts);

}  // namespace slipstream
