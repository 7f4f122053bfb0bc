// What is fuzzed: one function that must return, in bounded time, whatever its input is.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace slipstream::fuzz {

struct Target {
  std::string name;
  std::vector<std::string> corpus, words;
  std::function<void(std::string_view input)> run;  // aborts if it finds what must not be
};

Target http_target();      // bytes that a client sends; the server of common/http over a socket
Target request_target();   // the body of a POST, to each API; its first byte says which
Target template_target();  // messages, tools and variables to chat templates, and texts that shall be templates
Target grammar_target();   // schemas, regular expressions and rules; then texts that follow them

inline std::vector<Target> all_targets() { return {http_target(), request_target(), template_target(), grammar_target()}; }

}  // namespace slipstream::fuzz
