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
//
// The stop strings are one automaton (Aho and Corasick, 1975), so a byte of text costs the same
// whatever their number.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace slipstream {

// The stop strings of a request, which all its outputs share. Constant after construction.
class StopAutomaton {
 public:
  static constexpr uint32_t kRoot = 0;
  // A beginning of a stop string, and the root: the empty one.
  struct State {
    std::map<char, uint32_t> next;
    uint32_t shorter = kRoot;  // the longest proper suffix that is a state
    uint32_t depth = 0;        // bytes
    uint32_t ends = 0;         // bytes of the longest stop string that is a suffix; 0: none is
  };

  explicit StopAutomaton(const std::vector<std::string>& stops);  // empty strings are ignored
  const State& operator[](uint32_t state) const { return states_[state]; }
  uint32_t after(uint32_t state, char byte) const;

 private:
  void add(std::string_view stop);
  void link();  // sets `shorter` and `ends` of all states

  std::vector<State> states_;
};

class StopStrings {
 public:
  // shown: the stop string that occurs is part of the text.
  explicit StopStrings(std::shared_ptr<const StopAutomaton> stops, bool shown = false)
      : stops_(std::move(stops)), shown_(shown) {}
  explicit StopStrings(const std::vector<std::string>& stops, bool shown = false)
      : StopStrings(std::make_shared<const StopAutomaton>(stops), shown) {}

  struct Piece {
    std::string text;       // can be shown now
    bool stopped = false;   // a stop string occurred; the text after it is dropped, now and in later calls
    std::string stop = {};  // it, if it occurred in this call
  };
  Piece push(std::string_view text);
  std::string flush();  // call it when the output ends without a stop string: the text that was held back

 private:
  std::shared_ptr<const StopAutomaton> stops_;
  bool shown_;
  uint32_t at_ = StopAutomaton::kRoot;  // the longest suffix of the text so far that is a state; held_ is as long
  std::string held_;
  bool stopped_ = false;
};

}  // namespace slipstream
