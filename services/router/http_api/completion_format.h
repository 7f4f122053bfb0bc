// Writes answers in OpenAI's first two shapes: chat.completion and chat.completion.chunk, and the
// older text_completion, with vLLM's `metrics.speculative_decoding` and the `slipstream` object.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "services/router/http_api/answer_format.h"

namespace slipstream {

enum class CompletionKind : uint8_t { chat, text };  // /v1/chat/completions, /v1/completions

// What a request asks of a stream's usage.
struct StreamUsage {
  bool last = false;        // in a last chunk without choices
  bool continuous = false;  // so far, in each chunk
};

class CompletionFormat final : public AnswerFormat {
 public:
  CompletionFormat(CompletionKind kind, AnswerHead head, StreamUsage usage)
      : kind_(kind), head_(std::move(head)), usage_(usage) {}

  std::string whole(const AnswerState& state) override;
  std::string news(int index, const AnswerState& state) override;
  std::string failure(const ApiError& error, const AnswerState& state) override;

 private:
  using Json = nlohmann::ordered_json;
  Json root(const Choice& choice, const char* chat_object) const;
  // A chunk of the choice with this index. added: what a chat adds, or a completion's text.
  Json chunk(int index, const AnswerState& state, Json added) const;
  std::string role(int index, const AnswerState& state) const;  // of a choice's first chunk; chats only
  std::string text(int index, const AnswerState& state);        // what is new of it
  std::string any_text(int index, const AnswerState& state) const;
  std::vector<Json> chat_deltas(int index, const Choice& choice) const;  // what is new of a chat
  std::string finish(int index, const AnswerState& state) const;         // its last chunk
  std::string usage(int index, const AnswerState& state) const;          // the chunk after all others, without choices
  std::string written(Json chunk, const AnswerState& state) const;
  std::string call_id(int index, int call) const;
  Json message(int index, const Choice& choice) const;
  Json logprobs(const Choice& choice) const;

  // A chunk with a text and nothing else, which most are. What stands around the text is the same
  // in all of a choice's: to make it once saves most of the time that a token takes.
  struct Frame {
    uint64_t backend = 0;  // that it names
    std::string before = {}, after = {};
  };
  bool is_plain(const Choice& choice) const;
  Frame frame(int index, const AnswerState& state) const;

  CompletionKind kind_;
  AnswerHead head_;
  StreamUsage usage_;
  std::vector<bool> begun_ = {};    // [choice] its first chunk is out
  std::vector<Frame> frames_ = {};  // [choice] of its plain chunks; empty texts: not made yet
};

}  // namespace slipstream
