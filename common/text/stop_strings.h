// Holds back text that may be the beginning of a stop string, across token borders. One per output;
// not thread-safe.
//
// What is held back is the longest suffix of the text so far that a stop string begins with, so at
// most one byte less than the longest stop string (limits.h, kStopStringBytesMax). If several stop
// strings occur, the one that is complete first counts (the longer of two that end together), so
// that the outcome does not depend on how the text was cut into pieces.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slipstream {

class StopStrings {
 public:
  explicit StopStrings(std::vector<std::string> stops);  // empty strings among them are ignored

  struct Piece {
    std::string text;      // safe to show
    bool stopped = false;  // a stop string was met: it and all after it are cut; later calls give nothing
  };
  Piece push(std::string_view text);
  std::string flush();  // the end came without a stop: what was held back

 private:
  size_t first_match() const;  // where in held_ the stop string begins that is complete first; npos: nowhere
  size_t safe_bytes() const;   // how much of held_ no stop string can reach

  std::vector<std::string> stops_;
  std::string held_;
  bool stopped_ = false;
};

}  // namespace slipstream
