// Finds the calls of tools in what a model writes. Each family of models has its own form:
//
//   hermes        <tool_call>{"name": "f", "arguments": {...}}</tool_call>, anywhere in the text
//                 (Hermes, Qwen2.5, Qwen3)
//   llama3_json   {"name": "f", "parameters": {...}}, several parted by semicolons, as the whole text
//                 (Llama 3.1 and later)
//
// What looks like a call and is none stays text. Use one reader for each output; not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace slipstream {

enum class ToolFormat : uint8_t { none, hermes, llama3_json };

// The form that a chat template teaches its model; none: no form that is known.
ToolFormat tool_format_of(std::string_view chat_template);

struct ToolCall {
  std::string name;
  std::string arguments;  // a JSON object as text, as the model wrote it
  bool operator==(const ToolCall&) const = default;
};

class ToolCallReader {
 public:
  explicit ToolCallReader(ToolFormat format) : format_(format) {}  // none: all is text

  struct Piece {
    std::string text;
    std::vector<ToolCall> calls;
  };
  Piece push(std::string_view text);  // text that may become a call is held back
  Piece flush();                      // call it at the end of the output: what is held is a call, or text

 private:
  void read_hermes(Piece& piece);
  void read_llama(Piece& piece);
  void give_up(Piece& piece);  // all is text from here on

  ToolFormat format_;
  std::string held_;
  size_t searched_ = 0;  // bytes of held_ in which what is looked for does not begin
  bool inside_ = false;  // hermes: of a call
};

}  // namespace slipstream
