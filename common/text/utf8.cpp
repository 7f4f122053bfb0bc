#include "common/text/utf8.h"

#include <cstdint>

namespace slipstream {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

struct Lead {
  size_t size = 0;                  // bytes of the whole character; 0: no character begins with this byte
  uint8_t low = 0x80, high = 0xBF;  // bounds of the second byte (Unicode 15.0, table 3-7)
};

Lead lead_of(uint8_t byte) {
  if (byte < 0x80) return {1};
  if (byte >= 0xC2 && byte <= 0xDF) return {2};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte >= 0xE1 && byte <= 0xEF) return {3};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  if (byte >= 0xF1 && byte <= 0xF3) return {4};
  return {};
}

// What some bytes begin with.
struct Utf8Part {
  size_t size = 0;  // bytes of the character, or of the ill-formed or unfinished part; at least 1
  enum { kWhole, kIllFormed, kUnfinished } state = kIllFormed;
};

// bytes: not empty. An ill-formed part ends before the first byte that cannot continue it, which
// may begin the next character.
Utf8Part next_part(std::string_view bytes) {
  const Lead lead = lead_of(static_cast<uint8_t>(bytes[0]));
  if (lead.size == 0) return {1, Utf8Part::kIllFormed};
  for (size_t i = 1; i < lead.size; ++i) {
    if (i == bytes.size()) return {i, Utf8Part::kUnfinished};
    const auto byte = static_cast<uint8_t>(bytes[i]);
    if (byte < (i == 1 ? lead.low : 0x80) || byte > (i == 1 ? lead.high : 0xBF)) return {i, Utf8Part::kIllFormed};
  }
  return {lead.size, Utf8Part::kWhole};
}

}  // namespace

std::string take_utf8(std::string& bytes) {
  std::string text;
  size_t at = 0;
  while (at < bytes.size()) {
    const std::string_view rest = std::string_view(bytes).substr(at);
    const Utf8Part part = next_part(rest);
    if (part.state == Utf8Part::kUnfinished) break;
    text += part.state == Utf8Part::kWhole ? rest.substr(0, part.size) : kReplacement;
    at += part.size;
  }
  bytes.erase(0, at);
  return text;
}

std::string lossy_utf8(std::string_view bytes) {
  std::string rest(bytes);
  std::string text = take_utf8(rest);
  if (!rest.empty()) text += kReplacement;
  return text;
}

}  // namespace slipstream
