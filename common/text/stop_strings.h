// Ends an output at its first stop string, which may span several tokens. Text that may be the
// beginning of a stop string is held back until it is known whether it is one. Use one object for
// each output; not thread-safe.
//
//   StopStrings stops({"\n\n"});
//   stops.push("a\n");    // "a": the line break may begin a stop string
//   stops.push("b");      // "\nb"
//   stops.push("\n\nc");  // "", stopped
//
// Held back is the longest suffix of the text that is a beginning of a stop string: at most one
// byte less than the longest one (common/base/limits.h, kStopStringBytesMax). If several stop
// strings occur, the one that ends first counts, and the longer one of two that end together. So
// the result does not depend on how the text was cut into pieces.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slipstream {

class StopStrings {
 public:
  explicit StopStrings(std::vector<std::string> stops);  // empty strings are ignored

  struct Piece {
    std::string text;      // can be shown now
    bool stopped = false;  // a stop string occurred; it and the text after it are dropped, now and in later calls
  };
  Piece push(std::string_view text);
  std::string flush();  // call it when the output ends without a stop string: the text that was held back

 private:
  size_t first_match() const;  // where in held_ the stop string that ends first begins; npos: there is none
  size_t safe_bytes() const;   // how many bytes of held_ cannot be part of a stop string

  std::vector<std::string> stops_;
  std::string held_;
  bool stopped_ = false;
};

}  // namespace slipstream
