// Splits what a model thinks off what it answers. Models that were taught to think write
//
//   <think>first this, then that</think>the answer
//
// and some templates write <think> themselves, at the end of the prompt. White space around both
// parts is left out. <think> anywhere else is text. Use one reader for each output; it is not
// thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace slipstream {

enum class Reasoning : uint8_t {
  none,       // all is answer
  may_begin,  // the output may begin with <think>
  begun,      // the prompt has begun it
};

// How an answer to this prompt begins, whose last words are given, by the chat template that made
// it.
Reasoning reasoning_of(std::string_view chat_template, std::string_view prompts_end);

class ReasoningReader {
 public:
  explicit ReasoningReader(Reasoning reasoning);

  struct Piece {
    std::string reasoning, text;
  };
  Piece push(std::string_view text);  // what may be a mark or the space around one is held back
  Piece flush();                      // call it at the end of the output
  bool inside() const { return at_ == At::inside; }

 private:
  enum class At : uint8_t { before, inside, behind, text };
  void read_begin();
  void read_inside(Piece& piece);
  void read_behind();

  At at_;
  bool prompt_began_;
  bool thought_ = false;  // a word of the reasoning is out
  std::string held_;
};

}  // namespace slipstream
