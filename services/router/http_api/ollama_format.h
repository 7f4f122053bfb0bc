// Writes answers in Ollama's shape: one JSON object, or a stream of them, one a line. The last one
// has `done` and what the answer took, in nanoseconds and tokens.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "services/router/http_api/answer_format.h"

namespace slipstream {

enum class OllamaKind : uint8_t { chat, generate };  // /api/chat, /api/generate

// The time in Ollama's form: "2026-11-25T03:15:46Z".
std::string utc_text(int64_t unix_seconds);

// The answer to a request that loads the model and asks nothing.
std::string loaded_json(OllamaKind kind, std::string_view model);

class OllamaFormat final : public AnswerFormat {
 public:
  using Clock = std::chrono::steady_clock;
  using Now = std::function<Clock::time_point()>;

  // Made when the request begins: durations count from here. now: called on the thread that calls
  // the format.
  OllamaFormat(OllamaKind kind, AnswerHead head, Now now = Clock::now)
      : kind_(kind), head_(std::move(head)), now_(std::move(now)), began_(now_()) {}

  ErrorShape error_shape() const override { return ErrorShape::ollama; }
  std::string_view stream_type() const override { return "application/x-ndjson"; }
  void tokens_came() override { first_tokens_ = first_tokens_.value_or(now_()); }
  std::string whole(const AnswerState& state) override;
  std::string news(int index, const AnswerState& state) override;
  std::string awake() override;
  std::string failure(const ApiError& error, const AnswerState& state) override;

 private:
  using Json = nlohmann::ordered_json;
  Json object() const;
  Json with_words(const Choice* choice, const std::vector<ToolCall>& calls) const;  // null: none
  std::vector<ToolCall> whole_calls(const Choice& choice);                          // what is new of it ends these
  void end(Json& json, const AnswerState& state) const;

  OllamaKind kind_;
  AnswerHead head_;
  Now now_;
  Clock::time_point began_;
  std::optional<Clock::time_point> first_tokens_ = {};  // when they came: until then the prompt was computed
  std::vector<ToolCall> open_calls_ = {};               // that a stream has not told: the last one goes on
};

}  // namespace slipstream
