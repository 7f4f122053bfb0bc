#include "services/router/http_api/completion_format.h"

#include <span>

#include <fmt/format.h>

#include "common/messages/rules.h"
#include "common/text/utf8.h"
#include "services/router/http_api/answer_facts.h"
#include "services/router/http_api/json_text.h"
#include "services/router/http_api/prompt_logprobs.h"
#include "services/router/http_api/tree_facts.h"

namespace slipstream {
namespace {

using Json = nlohmann::ordered_json;

Json chat_logprobs_json(const std::vector<LogprobFacts>& logprobs) {
  Json content = Json::array();
  for (const LogprobFacts& each : logprobs) {
    Json entry = logprob_json(each.token);
    entry["top_logprobs"] = Json::array();
    for (const LogprobFacts::Token& other : each.top) entry["top_logprobs"].push_back(logprob_json(other));
    content.push_back(std::move(entry));
  }
  return {{"content", std::move(content)}, {"refusal", nullptr}};
}

// The form of the older API: parallel lists. The token itself is among its alternatives.
struct LogprobLists {
  Json tokens = Json::array(), values = Json::array(), tops = Json::array(), offsets = Json::array();

  void add(const LogprobFacts& facts, Json value, Json top) {
    tokens.push_back(lossy_utf8(facts.token.bytes));
    values.push_back(std::move(value));
    tops.push_back(std::move(top));
    offsets.push_back(facts.offset);
  }
  void add(const LogprobFacts& facts) {
    Json top = Json::object();
    for (const LogprobFacts::Token& other : facts.top) top.emplace(lossy_utf8(other.bytes), other.logprob);
    top.emplace(lossy_utf8(facts.token.bytes), facts.token.logprob);
    add(facts, facts.token.logprob, std::move(top));
  }
};

// Of a prompt, the first token has no logprob.
Json text_logprobs_json(const Facts& facts) {
  LogprobLists lists;
  if (facts.prompt != nullptr && !facts.prompt->empty()) {
    lists.add(facts.prompt->front(), nullptr, nullptr);
    for (const LogprobFacts& each : std::span(*facts.prompt).subspan(1)) lists.add(each);
  }
  for (const LogprobFacts& each : *facts.logprobs) lists.add(each);
  return {{"tokens", std::move(lists.tokens)},
          {"token_logprobs", std::move(lists.values)},
          {"top_logprobs", std::move(lists.tops)},
          {"text_offset", std::move(lists.offsets)}};
}

}  // namespace

Json CompletionFormat::root(const Choice& choice, const char* chat_object) const {
  Json json{{"id", head_.id},
            {"object", kind_ == CompletionKind::chat ? chat_object : "text_completion"},
            {"created", head_.created},
            {"model", head_.model},
            {"system_fingerprint", fmt::format("fp_{:016x}", choice.newest().backend)}};
  if (!head_.service_tier.empty()) json["service_tier"] = head_.service_tier;
  return json;
}

Json CompletionFormat::logprobs(const Choice& choice) const {
  const std::vector<LogprobFacts>* logprobs = choice.facts().logprobs;
  if (logprobs == nullptr) return nullptr;
  return kind_ == CompletionKind::chat ? chat_logprobs_json(*logprobs) : text_logprobs_json(choice.facts());
}

// Names the answer, the choice and the call.
std::string CompletionFormat::call_id(int index, int call) const {
  return fmt::format("call_{}_{}_{}", head_.stem, index, call);
}

Json CompletionFormat::chunk(int index, const AnswerState& state, Json added) const {
  Json json = root(state[index], "chat.completion.chunk");
  Json part{{"index", index}};
  part[kind_ == CompletionKind::chat ? "delta" : "text"] = std::move(added);
  part["logprobs"] = nullptr;
  part["finish_reason"] = nullptr;
  json["choices"] = Json::array({std::move(part)});
  return json;
}

// OpenAI sends null where the last chunk has the usage.
std::string CompletionFormat::written(Json chunk, const AnswerState& state) const {
  if (usage_.continuous) {
    chunk["usage"] = usage_json(state.totals().usage);
  } else if (usage_.last) {
    chunk["usage"] = nullptr;
  }
  return event(dump(chunk));
}

std::string CompletionFormat::news(int index, const AnswerState& state) {
  begun_.resize(state.choices.size());
  const Choice& choice = state[index];
  std::string out;
  if (!begun_[static_cast<size_t>(index)] && kind_ == CompletionKind::chat) out += role(index, state);
  begun_[static_cast<size_t>(index)] = true;
  if (choice.has_news()) out += text(index, state);
  if (choice.ended()) out += finish(index, state);
  if (!state.ended()) return out;
  if (usage_.last) out += usage(index, state);
  return out + event("[DONE]");
}

std::string CompletionFormat::role(int index, const AnswerState& state) const {
  return written(chunk(index, state, {{"role", "assistant"}, {"content", ""}}), state);
}

// As OpenAI: a call begins with its name and no arguments, which follow in pieces. Each has a delta
// of its own.
std::vector<Json> CompletionFormat::chat_deltas(int index, const Choice& choice) const {
  Json said = Json::object();
  if (!choice.reasoning().empty()) said["reasoning_content"] = choice.reasoning();
  if (!choice.text().empty()) said["content"] = choice.text();
  std::vector<Json> deltas;
  if (!said.empty()) deltas.push_back(std::move(said));
  int number = choice.first_call();
  const auto add_call = [&](Json call) { deltas.push_back({{"tool_calls", Json::array({std::move(call)})}}); };
  for (const ToolCall& call : choice.calls()) {
    if (call.begins) {
      add_call({{"index", number},
                {"id", call_id(index, number)},
                {"type", "function"},
                {"function", {{"name", call.name}, {"arguments", ""}}}});
    }
    if (!call.arguments.empty()) add_call({{"index", number}, {"function", {{"arguments", call.arguments}}}});
    ++number;
  }
  if (deltas.empty()) deltas.push_back({{"content", ""}});  // facts alone
  return deltas;
}

bool CompletionFormat::is_plain(const Choice& choice) const {
  const auto facts = choice.facts();
  return !usage_.continuous && facts.tokens == nullptr && facts.logprobs == nullptr &&
         (facts.trees == nullptr || facts.trees->empty()) && choice.reasoning().empty() && choice.calls().empty();
}

// No name or id can hold the place of the text: quotes within a JSON string are escaped.
CompletionFormat::Frame CompletionFormat::frame(int index, const AnswerState& state) const {
  const bool chat = kind_ == CompletionKind::chat;
  const std::string whole = written(chunk(index, state, chat ? Json{{"content", ""}} : Json("")), state);
  const std::string_view field = chat ? R"("content":)" : R"("text":)";
  const size_t text = whole.find(std::string(field) + R"("")") + field.size();
  return {.backend = state[index].newest().backend, .before = whole.substr(0, text), .after = whole.substr(text + 2)};
}

std::string CompletionFormat::text(int index, const AnswerState& state) {
  const Choice& choice = state[index];
  if (!is_plain(choice)) return any_text(index, state);
  frames_.resize(state.choices.size());
  Frame& around = frames_[static_cast<size_t>(index)];
  if (around.before.empty() || around.backend != choice.newest().backend) around = frame(index, state);
  return around.before + dump(choice.text()) + around.after;
}

std::string CompletionFormat::any_text(int index, const AnswerState& state) const {
  const Choice& choice = state[index];
  std::vector<Json> added{Json(choice.text())};
  if (kind_ == CompletionKind::chat) added = chat_deltas(index, choice);
  Json json = chunk(index, state, std::move(added.front()));
  json["choices"][0]["logprobs"] = logprobs(choice);
  if (const TokenFacts* tokens = choice.facts().tokens) {
    const Delivery& newest = choice.newest();
    json["slipstream"] = tokens_json(*tokens);
    if (is_biased(newest.rule.ran.rule)) json["slipstream"]["bias_spent"] = newest.report.spent;  // so far
  }
  const auto* trees = choice.facts().trees;
  if (trees != nullptr && !trees->empty()) json["slipstream"]["trees"] = trees_json(*trees);
  std::string out = written(std::move(json), state);
  for (size_t next = 1; next < added.size(); ++next) out += written(chunk(index, state, std::move(added[next])), state);
  return out;
}

// The chunk with the usage tells the rule, too, if there is one choice.
std::string CompletionFormat::finish(int index, const AnswerState& state) const {
  const Choice& choice = state[index];
  Json json = chunk(index, state, kind_ == CompletionKind::chat ? Json::object() : Json(""));
  json["choices"][0]["finish_reason"] = choice.reason();
  json["slipstream"] = slipstream_json(head_);
  if (!usage_.last || state.choices.size() > 1) json["slipstream"]["speculation"] = speculation_json(head_, choice);
  return written(std::move(json), state);
}

std::string CompletionFormat::usage(int index, const AnswerState& state) const {
  const Totals totals = state.totals();
  Json json = root(state[index], "chat.completion.chunk");
  json["choices"] = Json::array();
  json["usage"] = usage_json(totals);
  json["metrics"] = metrics_json(totals, head_.draft_nodes_max);
  json["slipstream"] = {{"seed", head_.seed}, {"speculation", speculation_json(head_, state[index])}};
  return event(dump(json));
}

Json CompletionFormat::message(int index, const Choice& choice) const {
  Json content = choice.calls().empty() || !choice.text().empty() ? Json(choice.text()) : Json(nullptr);
  Json json{{"role", "assistant"}, {"content", std::move(content)}, {"refusal", nullptr}};
  if (!choice.reasoning().empty()) json["reasoning_content"] = choice.reasoning();
  if (choice.calls().empty()) return json;
  Json calls = Json::array();
  for (const ToolCall& call : choice.calls()) {
    calls.push_back({{"id", call_id(index, static_cast<int>(calls.size()))},
                     {"type", "function"},
                     {"function", {{"name", call.name}, {"arguments", call.arguments}}}});
  }
  json["tool_calls"] = std::move(calls);
  return json;
}

// Of one choice, what Slipstream tells is beside `choices`; of several, each has its own.
std::string CompletionFormat::whole(const AnswerState& state) {
  const Totals totals = state.totals();
  Json json = root(state.first(), "chat.completion");
  json["choices"] = Json::array();
  Json told = Json::object();
  for (const Choice* choice : state.choices) {
    const auto index = static_cast<int>(json["choices"].size());
    Json part{{"index", index}};
    if (kind_ == CompletionKind::chat) {
      part["message"] = message(index, *choice);
    } else {
      part["text"] = choice->text();
    }
    part["logprobs"] = logprobs(*choice);
    part["finish_reason"] = choice->reason();
    if (const auto* prompt = choice->own_prompt_logprobs()) {  // as vLLM: a chat has one prompt, and one list
      (kind_ == CompletionKind::chat ? json : part)["prompt_logprobs"] = prompt_logprobs_json(*prompt);
    }
    const TokenFacts* tokens = choice->facts().tokens;
    Json own = tokens != nullptr ? tokens_json(*tokens) : Json::object();
    if (const auto* trees = choice->facts().trees) own["trees"] = trees_json(*trees);
    own["speculation"] = speculation_json(head_, *choice);
    (state.choices.size() == 1 ? told : part["slipstream"]) = std::move(own);
    json["choices"].push_back(std::move(part));
  }
  json["usage"] = usage_json(totals);
  json["metrics"] = metrics_json(totals, head_.draft_nodes_max);
  told.update(slipstream_json(head_));
  json["slipstream"] = std::move(told);
  return dump(json);
}

std::string CompletionFormat::failure(const ApiError& error, const AnswerState&) {
  return event(error_json(error, error_shape()));
}

}  // namespace slipstream
