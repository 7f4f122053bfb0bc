#include "services/router/http_api/responses_format.h"

#include "services/router/http_api/answer_facts.h"
#include "services/router/http_api/json_text.h"

namespace slipstream {
namespace {

using Json = nlohmann::ordered_json;

// An item has the bytes of tokens, and events have not, as OpenAI's schema has it.
Json logprobs_json(std::span<const LogprobFacts> logprobs, bool bytes) {
  const auto token_json = [bytes](const LogprobFacts::Token& token) {
    Json json = logprob_json(token);
    if (!bytes) json.erase("bytes");
    return json;
  };
  Json list = Json::array();
  for (const LogprobFacts& each : logprobs) {
    Json one = token_json(each.token);
    one["top_logprobs"] = Json::array();
    for (const LogprobFacts::Token& other : each.top) one["top_logprobs"].push_back(token_json(other));
    list.push_back(std::move(one));
  }
  return list;
}

Json part_of(std::string_view text, bool reasoning, std::span<const LogprobFacts> logprobs = {}) {
  if (reasoning) return {{"type", "reasoning_text"}, {"text", text}};
  return {{"type", "output_text"}, {"text", text}, {"annotations", Json::array()}, {"logprobs", logprobs_json(logprobs, true)}};
}

Json usage_of(const AnswerState& state) {
  const Totals totals = state.totals();
  return {{"input_tokens", totals.usage.prompt_tokens},
          {"input_tokens_details", {{"cached_tokens", totals.cached_tokens()}, {"cache_write_tokens", 0}}},
          {"output_tokens", totals.usage.completion_tokens},
          {"output_tokens_details", {{"reasoning_tokens", totals.usage.reasoning_tokens}}},
          {"total_tokens", totals.usage.prompt_tokens + totals.usage.completion_tokens}};
}

const char* status_of_response(const Choice& choice) { return choice.reason() == "length" ? "incomplete" : "completed"; }

}  // namespace

std::string ResponsesFormat::item_id(const Block& block) const {
  return call_id(block.kind == Kind::text ? "msg" : "fc", block);
}

const char* ResponsesFormat::status_of(const Block& block) { return block.cut ? "incomplete" : "completed"; }

Json ResponsesFormat::item(const Block& block, const char* status) const {
  if (block.kind == Kind::call) {
    return {{"type", "function_call"}, {"id", item_id(block)},    {"call_id", call_id("call", block)},
            {"name", block.tool},      {"arguments", block.text}, {"status", status}};
  }
  Json content = Json::array();
  const bool reasoning = block.kind == Kind::reasoning;
  if (!block.text.empty()) content.push_back(part_of(block.text, reasoning, block.logprobs));
  if (reasoning) {
    return {{"type", "reasoning"},
            {"id", item_id(block)},
            {"summary", Json::array()},
            {"content", std::move(content)},
            {"status", status}};
  }
  return {
      {"type", "message"}, {"id", item_id(block)}, {"role", "assistant"}, {"status", status}, {"content", std::move(content)}};
}

Json ResponsesFormat::response(const char* status) const {
  Json json{{"id", head().id},
            {"object", "response"},
            {"created_at", head().created},
            {"status", status},
            {"background", false},
            {"error", nullptr},
            {"incomplete_details", nullptr},
            {"model", head().model},
            {"output", Json::array()},
            {"previous_response_id", nullptr},
            {"store", false},
            {"truncation", "disabled"},
            {"usage", nullptr}};
  json.update(said_back_);
  if (!head().service_tier.empty()) json["service_tier"] = head().service_tier;
  return json;
}

// What the end cut off is incomplete; what closed before it is not.
Json ResponsesFormat::answer(const AnswerState& state) {
  const Choice& choice = state.first();
  Json json = response(status_of_response(choice));
  if (choice.reason() == "length") json["incomplete_details"] = {{"reason", "max_output_tokens"}};
  for (const Block& block : blocks()) json["output"].push_back(item(block, status_of(block)));
  json["usage"] = usage_of(state);
  add_facts(json, state);
  return json;
}

std::string ResponsesFormat::told(const std::string& name, Json fields) {
  Json json{{"type", name}, {"sequence_number", events_++}};
  json.update(fields);
  return event(name, dump(json));
}

std::string ResponsesFormat::told(const std::string& name, const Block& of, Json fields) {
  Json json{{"item_id", item_id(of)}, {"output_index", of.index}};
  if (of.kind != Kind::call) json["content_index"] = 0;
  json.update(fields);
  return told(name, std::move(json));
}

std::string ResponsesFormat::begin(const AnswerState&) {
  std::string out = told("response.created", {{"response", response("in_progress")}});
  return out += told("response.in_progress", {{"response", response("in_progress")}});
}

std::string ResponsesFormat::opened(const Block& block) {
  std::string out = told("response.output_item.added", {{"output_index", block.index}, {"item", item(block, "in_progress")}});
  if (block.kind == Kind::call) return out;
  return out += told("response.content_part.added", block, {{"part", part_of("", block.kind == Kind::reasoning)}});
}

std::string ResponsesFormat::grew(const Block& block, std::string_view added, std::span<const LogprobFacts> logprobs) {
  if (block.kind == Kind::call) return told("response.function_call_arguments.delta", block, {{"delta", added}});
  if (block.kind == Kind::reasoning) return told("response.reasoning_text.delta", block, {{"delta", added}});
  return told("response.output_text.delta", block, {{"delta", added}, {"logprobs", logprobs_json(logprobs, false)}});
}

std::string ResponsesFormat::closed(const Block& block) {
  std::string out;
  if (block.kind == Kind::call) {
    out = told("response.function_call_arguments.done", block, {{"name", block.tool}, {"arguments", block.text}});
  } else if (block.kind == Kind::reasoning) {
    out = told("response.reasoning_text.done", block, {{"text", block.text}});
    out += told("response.content_part.done", block, {{"part", part_of(block.text, true)}});
  } else {
    out = told("response.output_text.done", block, {{"text", block.text}, {"logprobs", logprobs_json(block.logprobs, false)}});
    out += told("response.content_part.done", block, {{"part", part_of(block.text, false, block.logprobs)}});
  }
  return out += told("response.output_item.done", {{"output_index", block.index}, {"item", item(block, status_of(block))}});
}

std::string ResponsesFormat::ended(const AnswerState& state) {
  return told(std::string("response.") + status_of_response(state.first()), {{"response", answer(state)}});
}

std::string ResponsesFormat::failure(const ApiError& error, const AnswerState& state) {
  Json json = response("failed");
  for (const Block& block : blocks()) json["output"].push_back(item(block, "incomplete"));
  json["error"] = {{"code", error.status == 429 ? "rate_limit_exceeded" : "server_error"}, {"message", error.message}};
  json["usage"] = usage_of(state);
  return told("response.failed", {{"response", std::move(json)}});
}

}  // namespace slipstream
