#include "services/router/http_api/ollama_format.h"

#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "services/router/http_api/answer_facts.h"
#include "services/router/http_api/bounded_json.h"
#include "services/router/http_api/json_text.h"

namespace slipstream {
namespace {

using Json = nlohmann::ordered_json;

// Calls have their arguments as an object, and no ids.
Json calls_json(const std::vector<ToolCall>& calls) {
  Json list = Json::array();
  for (const ToolCall& call : calls) {
    list.push_back({{"function", {{"name", call.name}, {"arguments", arguments_object(call.arguments)}}}});
  }
  return list;
}

int64_t nanoseconds(std::chrono::steady_clock::duration time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
}

std::string line(const Json& json) { return dump(json) + "\n"; }

}  // namespace

std::string utc_text(int64_t unix_seconds) {
  const auto at = static_cast<std::time_t>(unix_seconds);
  std::tm parts{};
  gmtime_r(&at, &parts);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}Z", parts);
}

std::string loaded_json(OllamaKind kind, std::string_view model) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  Json json{{"model", model}, {"created_at", utc_text(std::chrono::duration_cast<std::chrono::seconds>(now).count())}};
  if (kind == OllamaKind::chat) {
    json["message"] = {{"role", "assistant"}, {"content", ""}};
  } else {
    json["response"] = "";
  }
  json["done"] = true;
  json["done_reason"] = "load";
  return dump(json);
}

Json OllamaFormat::object() const {
  const auto passed = std::chrono::duration_cast<std::chrono::seconds>(now_() - began_).count();
  return {{"model", head_.model}, {"created_at", utc_text(head_.created + passed)}};
}

Json OllamaFormat::with_words(const Choice* choice, const std::vector<ToolCall>& calls) const {
  Json json = object();
  const std::string text = choice == nullptr ? "" : choice->text();
  const std::string thought = choice == nullptr ? "" : choice->reasoning();
  Json message{{"role", "assistant"}, {"content", text}};
  Json& place = kind_ == OllamaKind::chat ? message : json;
  if (kind_ == OllamaKind::generate) json["response"] = text;
  if (!thought.empty()) place["thinking"] = thought;
  if (!calls.empty()) place["tool_calls"] = calls_json(calls);
  if (kind_ == OllamaKind::chat) json["message"] = std::move(message);
  json["done"] = false;
  return json;
}

// Ollama has no reason for calls: the answer stopped.
void OllamaFormat::end(Json& json, const AnswerState& state) const {
  const Totals totals = state.totals();
  const Clock::time_point now = now_(), first = first_tokens_.value_or(now);
  json["done"] = true;
  json["done_reason"] = state.first().reason() == "length" ? "length" : "stop";
  json["total_duration"] = nanoseconds(now - began_);
  json["load_duration"] = 0;
  json["prompt_eval_count"] = totals.usage.prompt_tokens;
  json["prompt_eval_duration"] = nanoseconds(first - began_);
  json["eval_count"] = totals.usage.completion_tokens;
  json["eval_duration"] = nanoseconds(now - first);
  json["slipstream"] = slipstream_json(head_);
}

std::string OllamaFormat::whole(const AnswerState& state) {
  Json json = with_words(&state.first(), state.first().calls());
  end(json, state);
  return dump(json);
}

// Ollama's clients take a call in one piece.
std::vector<ToolCall> OllamaFormat::whole_calls(const Choice& choice) {
  for (const ToolCall& part : choice.calls()) add_part(open_calls_, part);
  if (choice.ended() || (!open_calls_.empty() && open_calls_.back().ends)) return std::exchange(open_calls_, {});
  if (open_calls_.size() <= 1) return {};
  ToolCall open = std::move(open_calls_.back());
  open_calls_.pop_back();
  return std::exchange(open_calls_, {std::move(open)});
}

std::string OllamaFormat::news(int index, const AnswerState& state) {
  const Choice& choice = state[index];
  std::string out;
  const std::vector<ToolCall> calls = whole_calls(choice);
  if (!choice.text().empty() || !choice.reasoning().empty() || !calls.empty()) {
    out += line(with_words(&choice, calls));
  }
  if (!state.ended()) return out;
  Json last = with_words(nullptr, {});
  end(last, state);
  return out + line(last);
}

// Clients read every line as JSON, so that none may be a comment.
std::string OllamaFormat::awake() { return line(with_words(nullptr, {})); }

std::string OllamaFormat::failure(const ApiError& error, const AnswerState&) { return error_json(error, error_shape()) + "\n"; }

}  // namespace slipstream
