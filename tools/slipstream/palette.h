// How drafted tokens are told from the target's own on a terminal. Without a terminal, or with NO_COLOR set (no-color.org),
// text comes out as it is.
#pragma once

#include <string>
#include <string_view>

#include "tools/slipstream/answer.h"

namespace slipstream::command {

class Palette {
 public:
  static Palette of_terminal(bool plain);  // plain: no colours, whatever the terminal can do
  explicit Palette(bool colours) : colours_(colours) {}

  bool colours() const { return colours_; }
  std::string paint(const Piece& piece) const;
  std::string aside(std::string_view text) const;  // a remark of the program's, not of the model's
  std::string legend() const;                      // "" without colours

 private:
  bool colours_;
};

}  // namespace slipstream::command
