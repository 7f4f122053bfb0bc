// Reads a call of a tool in Python's form byte by byte, while a model writes it:
//
//   f(city="Paris", days=[1, 2], exact=True)
//
// Its arguments are given as JSON: strings in any quotes, True, False, None, lists, tuples and
// dictionaries are written as JSON has them. What has no such form, as an argument without a name,
// is written as it is, and makes the JSON invalid. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "services/router/http_api/json_call.h"
#include "services/router/http_api/python_string.h"

namespace slipstream {

class PythonCall {
 public:
  CallState read(char next);
  const std::string& name() const { return name_; }                  // once the call has begun
  std::string take_arguments() { return std::exchange(json_, {}); }  // since it was last asked

 private:
  enum class At : uint8_t { name, argument, value, end, nowhere };
  At after(char next);
  At in_name(char next);
  At in_argument(char next);
  At in_value(char next);
  At close();
  void end_word();

  At at_ = At::name;
  bool begun_ = false;
  int depth_ = 0;  // brackets that the value has opened
  std::optional<PythonString> string_;
  std::string name_, word_, json_;
  std::string held_;  // a comma and white space: written if something follows
};

}  // namespace slipstream
