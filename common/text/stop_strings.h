// Holds back text that may be the beginning of a stop string, across token borders. One per output; not thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slipstream {

class StopStrings {
 public:
  explicit StopStrings(std::vector<std::string> stops) : stops_(std::move(stops)) {}
  struct Piece {
    std::string text;      // safe to show
    bool stopped = false;  // a stop string was met: it and all after it are cut
  };
  Piece push(std::string_view text);
  std::string flush();  // the end came without a stop: what was held back

 private:
  std::vector<std::string> stops_;
  std::string held_;
};

}  // namespace slipstream
