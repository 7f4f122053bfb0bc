#include "tools/slipstream/terminal.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

namespace slipstream::command {
namespace {
constexpr std::string_view kDrafted = "\x1b[32m";
constexpr std::string_view kAside = "\x1b[2m";
constexpr std::string_view kGood = "\x1b[32m", kCaution = "\x1b[33m", kTrouble = "\x1b[31m";
constexpr std::string_view kReset = "\x1b[0m";

constexpr int kSpeedTokensMin = 8;  // fewer take too little time to tell a speed
// A shorter answer takes too little time for a ratio of two speeds.
constexpr size_t kTimedTokensMin = 48;
constexpr double kTokensPerStepMin = 1.1;  // least speed-up shown as a ratio: two runs of one answer differ by nearly 10 %

struct Agreement {
  size_t same = 0, all = 0;
};

Agreement agreement(std::span<const Comparison> comparisons) {
  Agreement total;
  const auto add = [&total](const std::vector<int32_t>& a, const std::vector<int32_t>& b) {
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) total.same += a[i] == b[i] ? 1 : 0;
    total.all += std::max(a.size(), b.size());
  };
  for (const Comparison& comparison : comparisons) {
    add(comparison.drafted.ids, comparison.plain.ids);
    if (comparison.drafter_lost) add(comparison.drafter_lost->ids, comparison.plain.ids);
  }
  return total;
}

}  // namespace

// The C1 characters are two bytes of UTF-8, the first of them 0xC2.
std::string harmless(std::string_view text) {
  const auto byte = [&](size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U; };
  std::string kept;
  for (size_t at = 0; at < text.size(); ++at) {
    const bool c0 = (byte(at) < 0x20 && text[at] != '\n' && text[at] != '\t') || byte(at) == 0x7F;
    const bool c1 = byte(at) == 0xC2 && byte(at + 1) >= 0x80 && byte(at + 1) <= 0x9F;
    if (c1) ++at;
    if (!c0 && !c1) kept += text[at];
  }
  return kept;
}

Palette Palette::of_terminal(bool plain) {
  const char* no_color = std::getenv("NO_COLOR");
  const bool refused = plain || (no_color != nullptr && *no_color != '\0');
  return Palette(!refused && isatty(STDOUT_FILENO) == 1);
}

std::string Palette::in(std::string_view colour, std::string_view text) const {
  return colours_ ? fmt::format("{}{}{}", colour, text, kReset) : std::string(text);
}

std::string Palette::paint(const Piece& piece) const { return piece.drafted ? in(kDrafted, piece.text) : piece.text; }
std::string Palette::aside(std::string_view text) const { return in(kAside, text); }
std::string Palette::good(std::string_view text) const { return in(kGood, text); }
std::string Palette::caution(std::string_view text) const { return in(kCaution, text); }
std::string Palette::trouble(std::string_view text) const { return in(kTrouble, text); }

std::string Palette::legend(int columns) const {
  if (!colours_) return "";
  constexpr std::string_view kLong = ": guessed by the drafter, confirmed by the target", kShort = ": guessed, then confirmed";
  constexpr std::string_view kGreen = "green", kBetween = "   ", kPlain = "plain: the target's own";
  const auto fits = [&](size_t letters) { return static_cast<size_t>(std::max(columns, 0)) > letters; };
  const bool in_one_line = fits(kGreen.size() + kLong.size() + kBetween.size() + kPlain.size());
  return fmt::format("{}{}{}{}\n", in(kDrafted, kGreen), fits(kGreen.size() + kLong.size()) ? kLong : kShort,
                     in_one_line ? kBetween : "\n", kPlain);
}

std::string figures(const Answer& answer) {
  std::string text = fmt::format("{} token{}", answer.ids.size(), answer.ids.size() == 1 ? "" : "s");
  if (answer.decoded >= kSpeedTokensMin) text += fmt::format(", {:.1f} tokens/s", answer.tokens_per_s());
  if (!answer.finish.empty()) text += fmt::format(", {:.2f} tokens a step", answer.acceptance_length);  // else it was cut
  if (!answer.drafted.empty()) {
    const auto drafted = std::ranges::count_if(answer.drafted, [](uint8_t flag) { return flag != 0; });
    text +=
        fmt::format(", {:.0f} % drafted", 100.0 * static_cast<double>(drafted) / static_cast<double>(answer.drafted.size()));
  }
  if (!answer.rule.empty()) text += ", rule " + answer.rule;
  return text;
}

std::string table(std::span<const Comparison> comparisons) {
  std::string text = fmt::format("{:<16} {:>22}   {:>8}   {:>5}\n{:<16} {:>10} {:>11}   {:>8}\n", "", "with drafts", "plain",
                                 "ratio", "", "tokens/s", "tokens/step", "tokens/s");
  bool short_answers = false, hardly_guessed = false;
  for (const Comparison& comparison : comparisons) {
    const double plain = comparison.plain.tokens_per_s();
    const bool timed = plain > 0 && comparison.plain.ids.size() >= kTimedTokensMin;
    const bool guessed = comparison.drafted.acceptance_length >= kTokensPerStepMin;
    const std::string ratio = !timed ? "-" : !guessed ? "~" : fmt::format("{:.2f}", comparison.drafted.tokens_per_s() / plain);
    text += fmt::format("{:<16} {:>10.1f} {:>11.2f}   {:>8.1f}   {:>5}\n", comparison.name, comparison.drafted.tokens_per_s(),
                        comparison.drafted.acceptance_length, plain, ratio);
    short_answers |= !timed;
    hardly_guessed |= timed && !guessed;
  }
  if (hardly_guessed) {
    text += "~: almost no guess was accepted, so both columns time plain decoding; they differ by the machine's noise\n";
  }
  if (short_answers) text += fmt::format("-: an answer of under {} tokens is too short to tell a ratio\n", kTimedTokensMin);
  return text;
}

// No tokens at all is not "the same words".
bool same_words(std::span<const Comparison> comparisons) {
  const Agreement found = agreement(comparisons);
  return found.all > 0 && found.same == found.all;
}

std::string verdict(std::span<const Comparison> comparisons) {
  const Agreement found = agreement(comparisons);
  return fmt::format("same words: {}, {} of {} tokens", same_words(comparisons) ? "yes" : "no", found.same, found.all);
}

}  // namespace slipstream::command
