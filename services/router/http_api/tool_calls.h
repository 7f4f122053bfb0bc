// Finds the calls of tools in what a model writes, while it writes them. Each family of models has
// its own form:
//
//   hermes        <tool_call>{"name": "f", "arguments": {...}}</tool_call>, anywhere in the text
//                 (Hermes, Qwen2.5, Qwen3)
//   llama3_json   {"name": "f", "parameters": {...}}, several parted by semicolons, at the beginning
//                 of the text (Llama 3.1 and later)
//   pythonic      [f(city="Paris"), g()], at the beginning of the text (Llama 3.2, Llama 4, Gemma 3)
//
// A call begins when its name and the beginning of its arguments were read. What looks like a call
// until then and is none stays text. From there on it stays a call, whatever the model makes of it:
// its arguments may be no valid JSON, or end in the middle. White space between two calls, or
// behind the last one, is no text. Use one reader for each output; not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "services/router/http_api/json_call.h"
#include "services/router/http_api/python_call.h"

namespace slipstream {

enum class ToolFormat : uint8_t { none, hermes, llama3_json, pythonic };

// The form that a chat template teaches its model; none: no form that is known.
ToolFormat tool_format_of(std::string_view chat_template);

// Whether a JSON document may begin with this text, or else the calls of a form must. REQUIRES: it
// is not empty.
bool may_begin_document(std::string_view text);

// A call, or the part of it that came last.
struct ToolCall {
  std::string name;
  std::string arguments;   // a JSON object as text; of the JSON forms as the model wrote it
  bool begins = true;      // else it goes on, and has no name
  bool ends = true;        // else it goes on behind this part, or was cut
  size_t text_before = 0;  // bytes of the text that came with it, which stand before it
  bool operator==(const ToolCall&) const = default;
};

// Adds a part to the calls that it follows.
void add_part(std::vector<ToolCall>& calls, ToolCall part);

class ToolCallReader {
 public:
  explicit ToolCallReader(ToolFormat format);  // none: all is text

  struct Piece {
    std::string text;
    std::vector<ToolCall> calls;
  };
  Piece push(std::string_view text);                                                // text that may become a call is held back
  Piece flush();                                                                    // call it at the end of the output
  bool in_call() const { return in_ == In::call || (in_ == In::between && any_); }  // or behind one

 private:
  enum class In : uint8_t {
    text,     // no call begins here but behind a mark
    between,  // before the first call of a list, or behind a call: the next may follow
    opening,  // what may become a call
    call,
  };
  void read(char next, Piece& piece);
  void read_mark(std::string_view mark, Piece& piece);
  void read_between(char next, Piece& piece);
  void read_call(char next, Piece& piece);
  void open();
  void give_up(Piece& piece);  // what was held is text
  bool wants(std::string_view mark) const;
  bool begins_mark(std::string_view text) const;
  void tell_arguments(Piece& piece, bool ends);

  const ToolFormat format_;
  In in_;
  std::variant<JsonCall, PythonCall> call_;
  bool told_end_ = false;  // of the call
  bool listed_ = false;    // pythonic: its bracket is open
  bool any_ = false;       // a call began
  bool behind_ = false;    // hermes: nothing but white space came since a call
  std::string held_;       // text, if it becomes no call, or if text follows
  std::string mark_;       // what may become a mark
};

}  // namespace slipstream
