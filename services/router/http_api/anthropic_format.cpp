#include "services/router/http_api/anthropic_format.h"

#include "services/router/http_api/bounded_json.h"
#include "services/router/http_api/json_text.h"

namespace slipstream {
namespace {

using Json = nlohmann::ordered_json;

// An event has its name inside its data, too.
std::string told(const std::string& name, Json fields) {
  Json json{{"type", name}};
  json.update(fields);
  return event(name, dump(json));
}

// Anthropic's input tokens are those that no cache had.
Json usage_of(const AnswerState& state) {
  const Totals totals = state.totals();
  return {{"input_tokens", totals.usage.prompt_tokens - totals.cached_tokens()},
          {"cache_creation_input_tokens", 0},
          {"cache_read_input_tokens", totals.cached_tokens()},
          {"output_tokens", totals.usage.completion_tokens}};
}

// How the message ended: {"stop_reason", "stop_sequence"}.
Json end_of(const Choice& choice) {
  const std::string& reason = choice.reason();
  const bool string = !choice.stop_string().empty();
  return {{"stop_reason", reason == "tool_calls" ? "tool_use"
                          : reason == "length"   ? "max_tokens"
                          : string               ? "stop_sequence"
                                                 : "end_turn"},
          {"stop_sequence", string ? Json(choice.stop_string()) : Json(nullptr)}};
}

}  // namespace

Json AnthropicFormat::message(const AnswerState& state) const {
  return {{"id", head().id},          {"type", "message"},      {"role", "assistant"},      {"model", head().model},
          {"content", Json::array()}, {"stop_reason", nullptr}, {"stop_sequence", nullptr}, {"usage", usage_of(state)}};
}

Json AnthropicFormat::content_block(const Block& block) const {
  if (block.kind == Kind::text) return {{"type", "text"}, {"text", block.text}};
  if (block.kind == Kind::reasoning) return {{"type", "thinking"}, {"thinking", block.text}, {"signature", ""}};
  Json input = block.text.empty() ? Json::object() : arguments_object(block.text);
  return {{"type", "tool_use"}, {"id", call_id("toolu", block)}, {"name", block.tool}, {"input", std::move(input)}};
}

Json AnthropicFormat::answer(const AnswerState& state) {
  Json json = message(state);
  for (const Block& block : blocks()) json["content"].push_back(content_block(block));
  json.update(end_of(state.first()));
  add_facts(json, state);
  return json;
}

std::string AnthropicFormat::begin(const AnswerState& state) { return told("message_start", {{"message", message(state)}}); }

std::string AnthropicFormat::awake() { return told("ping", Json::object()); }

std::string AnthropicFormat::opened(const Block& block) {
  return told("content_block_start", {{"index", block.index}, {"content_block", content_block(block)}});
}

std::string AnthropicFormat::grew(const Block& block, std::string_view added, std::span<const LogprobFacts>) {
  Json delta{{"type", "text_delta"}, {"text", added}};
  if (block.kind == Kind::reasoning) delta = {{"type", "thinking_delta"}, {"thinking", added}};
  if (block.kind == Kind::call) delta = {{"type", "input_json_delta"}, {"partial_json", added}};
  return told("content_block_delta", {{"index", block.index}, {"delta", std::move(delta)}});
}

std::string AnthropicFormat::closed(const Block& block) { return told("content_block_stop", {{"index", block.index}}); }

std::string AnthropicFormat::ended(const AnswerState& state) {
  Json json{{"delta", end_of(state.first())}, {"usage", usage_of(state)}};
  add_facts(json, state);
  std::string out = told("message_delta", std::move(json));
  return out += told("message_stop", Json::object());
}

std::string AnthropicFormat::failure(const ApiError& error, const AnswerState&) {
  return event("error", error_json(error, error_shape()));
}

}  // namespace slipstream
