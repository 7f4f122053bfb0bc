#include "services/router/http_api/grammar_fields.h"

#include <array>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/base/limits.h"
#include "services/router/http_api/json_text.h"

namespace slipstream {
namespace {

using simdjson::dom::element;

constexpr std::string_view kAnyObject = R"({"type":"object"})";

// What a field holds, as a grammar. name: with its path. ignored: gets the keys in it that are not
// known here.
using Reader = ApiResult<GrammarText> (*)(element value, const std::string& name, std::vector<std::string>& ignored);

ApiResult<GrammarText> wrong_type(const std::string& name, std::string_view wanted, element value) {
  return std::unexpected(bad_field(name, fmt::format("`{}` must be {}; it is {}.", name, wanted, kind_of(value))));
}

// A schema, or one as text, which vLLM takes, too.
ApiResult<GrammarText> read_schema(element value, const std::string& name, std::vector<std::string>& /*ignored*/) {
  std::string_view text;
  if (value.get(text) == simdjson::SUCCESS) return GrammarText{GrammarForm::json_schema, std::string(text)};
  if (value.is_object() || value.is_bool()) return GrammarText{GrammarForm::json_schema, simdjson::minify(value)};
  return wrong_type(name, "a JSON schema", value);
}

template <GrammarForm form>
ApiResult<GrammarText> read_text(element value, const std::string& name, std::vector<std::string>& /*ignored*/) {
  std::string_view text;
  if (value.get(text) == simdjson::SUCCESS && text.size() > kGrammarRulesBytesMax) {
    return std::unexpected(
        bad_field(name, fmt::format("`{}` has {} bytes, the limit is {}.", name, text.size(), kGrammarRulesBytesMax)));
  }
  if (value.get(text) == simdjson::SUCCESS && !text.empty()) return GrammarText{form, std::string(text)};
  return wrong_type(name, "a text that is not empty", value);
}

ApiResult<GrammarText> read_choice(element value, const std::string& name, std::vector<std::string>& /*ignored*/) {
  simdjson::dom::array list;
  if (value.get(list) != simdjson::SUCCESS || list.size() == 0) return wrong_type(name, "a list of at least one text", value);
  if (list.size() > kGuidedChoicesMax) return std::unexpected(too_many(name, "texts", list.size(), kGuidedChoicesMax));
  std::vector<std::string> texts;
  for (element one : list) {
    std::string_view text;
    if (one.get(text) != simdjson::SUCCESS) return wrong_type(name, "a list of texts", one);
    texts.emplace_back(text);
  }
  return GrammarText{GrammarForm::lark, lark_of(texts)};
}

ApiResult<GrammarText> read_json_object(element value, const std::string& name, std::vector<std::string>& /*ignored*/) {
  bool asked = false;
  if (value.get(asked) != simdjson::SUCCESS) return wrong_type(name, "true or false", value);
  return asked ? GrammarText{GrammarForm::json_schema, std::string(kAnyObject)} : GrammarText();
}

// OpenAI's field, and llama.cpp's `schema` beside "json_object".
ApiResult<GrammarText> read_response_format(element value, const std::string& name, std::vector<std::string>& ignored) {
  simdjson::dom::object object;
  if (value.get(object) != simdjson::SUCCESS) return wrong_type(name, "an object with `type`", value);
  const RequestFields format(object, name + ".");
  TRY(const auto type, format.text("type"));
  const auto beside = format.find("schema");
  TRY(const auto inner, format.object("json_schema"));
  const auto schema = inner ? inner->find("schema") : std::nullopt;
  format.note_unread(ignored);
  if (inner) {
    for (const std::string_view said : {"name", "description", "strict"}) inner->find(said);  // they change no word
    inner->note_unread(ignored);
  }
  if (type == "text" || (!type && object.size() == 0)) return GrammarText();
  if (type == "json_object") {
    return beside ? read_schema(*beside, name + ".schema", ignored)
                  : GrammarText{GrammarForm::json_schema, std::string(kAnyObject)};
  }
  if (type != "json_schema") {
    return std::unexpected(
        bad_field(name + ".type", fmt::format("`{}.type` must be \"text\", \"json_object\" or \"json_schema\".", name)));
  }
  const std::string path = name + ".json_schema.schema";
  if (!schema) return std::unexpected(bad_field(path, fmt::format("`{}` is missing.", path)));
  return read_schema(*schema, path, ignored);
}

struct Asks {
  std::string_view field;
  Reader read;
};
constexpr std::array<Asks, 6> kFields{{{"response_format", read_response_format},
                                       {"guided_json", read_schema},
                                       {"guided_regex", read_text<GrammarForm::regex>},
                                       {"guided_choice", read_choice},
                                       {"guided_grammar", read_text<GrammarForm::lark>},
                                       {"json_schema", read_schema}}};
constexpr std::array<Asks, 5> kStructuredOutputs{{{"json", read_schema},
                                                  {"regex", read_text<GrammarForm::regex>},
                                                  {"choice", read_choice},
                                                  {"grammar", read_text<GrammarForm::lark>},
                                                  {"json_object", read_json_object}}};

// Adds what one of these fields asks for to `asked`.
ApiResult<void> read_each(const RequestFields& fields, std::span<const Asks> known, AskedGrammar& asked) {
  for (const Asks& each : known) {
    const auto value = fields.find(each.field);
    if (!value) continue;
    const std::string name = fields.name(each.field);
    TRY(GrammarText grammar, each.read(*value, name, asked.ignored));
    if (grammar.empty()) continue;
    if (!asked.grammar.empty()) {
      return std::unexpected(
          bad_field(name, fmt::format("`{}` and `{}` both ask for a form of the answer: leave one out.", asked.field, name)));
    }
    if (grammar.text.size() > kGrammarBytesMax) {
      return std::unexpected(
          bad_field(name, fmt::format("`{}` has {} bytes, the limit is {}.", name, grammar.text.size(), kGrammarBytesMax)));
    }
    if (grammar.text.contains('\0')) return std::unexpected(bad_field(name, fmt::format("`{}` holds a NUL.", name)));
    asked.grammar = std::move(grammar);
    asked.field = name;
  }
  return {};
}

}  // namespace

std::string lark_of(std::span<const std::string> texts) {
  std::string rule = "start: ";
  for (const std::string& text : texts) rule += (&text == texts.data() ? "" : " | ") + dump(text);
  return rule;
}

ApiResult<AskedGrammar> read_grammar(const RequestFields& fields) {
  AskedGrammar asked;
  TRY_VOID(read_each(fields, kFields, asked));
  TRY(const auto outputs, fields.object("structured_outputs"));
  if (outputs) {
    TRY_VOID(read_each(*outputs, kStructuredOutputs, asked));
    std::vector<std::string> ignored;  // told before those of the other fields
    outputs->note_unread(ignored);
    asked.ignored.insert(asked.ignored.begin(), ignored.begin(), ignored.end());
  }
  return asked;
}

}  // namespace slipstream
