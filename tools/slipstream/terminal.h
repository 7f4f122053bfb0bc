// What the command prints on a terminal: drafted tokens in another colour than the target's own,
// the figures of an answer, and a table that compares answers with and without drafts. It prints no
// colours without a terminal or with NO_COLOR set (no-color.org).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tools/slipstream/chat_client.h"

namespace slipstream::command {

// A server's words as a terminal may show them: without control characters but for line feed and
// tab, so that they move no cursor and change no colours.
std::string harmless(std::string_view text);

class Palette {
 public:
  static Palette of_terminal(bool plain);  // plain: never colours
  explicit Palette(bool colours) : colours_(colours) {}

  bool colours() const { return colours_; }
  std::string paint(const Piece& piece) const;
  std::string aside(std::string_view text) const;  // a remark of the program, not of the model
  std::string good(std::string_view text) const;
  std::string caution(std::string_view text) const;
  std::string trouble(std::string_view text) const;  // an error
  // Explains the colours in a window of so many columns, in two lines where one is too long; ""
  // without colours.
  std::string legend(int columns) const;

 private:
  std::string in(std::string_view colour, std::string_view text) const;

  bool colours_;
};

// "58 tokens, 41.2 tokens/s, 2.10 tokens a step, 52 % drafted, rule coupled"; what the server did
// not say is left out.
std::string figures(const Answer& answer);

// Answers to one question, with and without drafts.
struct Comparison {
  std::string name;
  Answer drafted, plain;
  std::optional<Answer> drafter_lost;  // an answer whose drafter died on the way: not timed, but compared
};

// A table of the speed of each answer, with and without drafts.
std::string table(std::span<const Comparison> comparisons);
// Whether all answers with drafts have the tokens of the plain ones. False if there are no tokens
// at all.
bool same_words(std::span<const Comparison> comparisons);
// "same words: yes, 256 of 256 tokens". Compares token by token; the tokens that only the longer
// answer has count as different.
std::string verdict(std::span<const Comparison> comparisons);

}  // namespace slipstream::command
