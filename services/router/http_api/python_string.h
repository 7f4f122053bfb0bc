// Writes a string literal of Python as a JSON string, byte by byte: in single or double quotes, or
// in three of them, with Python's escapes. What is no escape of Python stays, as in Python. Pure.
#pragma once

#include <cstdint>
#include <string>

namespace slipstream {

class PythonString {
 public:
  explicit PythonString(char quote) : quote_(quote) {}  // the first quote is read

  // Reads a byte behind the first quote and adds its JSON. false: the string ended before it.
  bool read(char next, std::string& json);
  bool ended() const { return in_ == In::nothing; }

 private:
  enum class In : uint8_t { quote, quotes, text, escape, code, nothing };
  void in_text(char next, std::string& json);
  void in_escape(char next, std::string& json);
  void in_code(char next, std::string& json);
  void end_code(std::string& json);

  char quote_;
  In in_ = In::quote;
  bool triple_ = false;
  int closing_ = 0;        // of three quotes, those that were just read
  char kind_ = 'x';        // of a code: 'x', 'u', 'U', or '0' for octal digits
  std::string code_ = {};  // its digits so far
};

}  // namespace slipstream
