// Reads the JSON object of a call of a tool byte by byte, while a model writes it:
//
//   {"name": "f", "arguments": {...}}     (or "parameters"; other fields count for nothing)
//
// A call has begun when its name and the brace that opens its arguments are read. The arguments are
// followed by their brackets and strings alone: they are given on as the model wrote them, and may
// be no valid JSON. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace slipstream {

enum class CallState : uint8_t {
  none,      // what was read is no call
  opening,   // it may become one
  begun,     // it is one
  complete,  // its arguments are, too
  closed,    // and nothing more belongs to it
};

// How deep in brackets a text is. Brackets in strings do not count.
class BracketDepth {
 public:
  void read(char next);
  int depth() const { return depth_; }
  bool outside() const { return depth_ == 0 && !string_; }

 private:
  int depth_ = 0;
  bool string_ = false, escaped_ = false;
};

class JsonCall {
 public:
  CallState read(char next);
  const std::string& name() const { return name_; }                       // once the call has begun
  std::string take_arguments() { return std::exchange(arguments_, {}); }  // since it was last asked

 private:
  enum class At : uint8_t { object, key, in_key, colon, value, in_name, in_arguments, in_other, comma, behind, end, nowhere };
  At after(char next);
  At in_key(char next);
  At value(char next);
  At in_name(char next);
  At in_arguments(char next);
  At in_other(char next);
  At comma(char next);
  At behind(char next);

  At at_ = At::object;
  BracketDepth brackets_;  // of the arguments, of another value, or of what is behind the arguments
  std::string token_;      // a key or a name so far, as it is written
  bool escaped_ = false;   // in a token
  bool has_arguments_ = false, complete_ = false;
  std::string name_, arguments_;
};

}  // namespace slipstream
