// What the command shows on a terminal: drafted tokens in another colour than the target's own, and
// a table that compares answers with drafts and without. Without a terminal, or with NO_COLOR set
// (no-color.org), there are no colours.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tools/slipstream/chat_client.h"

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

// The same question, answered with drafts and plainly.
struct Comparison {
  std::string name;
  Answer drafted, plain;
  std::optional<Answer> bereaved;  // whose drafter died on the way: not timed, but its words count
};

// How fast each answer was, with drafts and without.
std::string table(std::span<const Comparison> comparisons);
bool same_words(std::span<const Comparison> comparisons);
// "same words: yes, 256 of 256 tokens". Tokens are compared place by place; a longer answer's rest
// counts as different.
std::string verdict(std::span<const Comparison> comparisons);

}  // namespace slipstream::command
