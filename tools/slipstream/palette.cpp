#include "tools/slipstream/palette.h"

#include <unistd.h>

#include <cstdlib>

#include <fmt/format.h>

namespace slipstream::command {
namespace {
constexpr std::string_view kDrafted = "\x1b[32m";
constexpr std::string_view kAside = "\x1b[2m";
constexpr std::string_view kReset = "\x1b[0m";
}  // namespace

Palette Palette::of_terminal(bool plain) {
  const char* no_color = std::getenv("NO_COLOR");
  const bool refused = plain || (no_color != nullptr && *no_color != '\0');
  return Palette(!refused && isatty(STDOUT_FILENO) == 1);
}

std::string Palette::paint(const Piece& piece) const {
  if (!colours_ || !piece.drafted) return piece.text;
  return fmt::format("{}{}{}", kDrafted, piece.text, kReset);
}

std::string Palette::aside(std::string_view text) const {
  return colours_ ? fmt::format("{}{}{}", kAside, text, kReset) : std::string(text);
}

std::string Palette::legend() const {
  if (!colours_) return "";
  return fmt::format("{}green{}: guessed by the drafter, confirmed by the target   plain: the target's own\n", kDrafted,
                     kReset);
}

}  // namespace slipstream::command
