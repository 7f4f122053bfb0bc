// docs/design/WIRE.md shows bytes; these tests keep them true. A failure prints the bytes to put
// there.
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/base/prefix_hash.h"
#include "common/wire/codec.h"

namespace slipstream::wire {
namespace {

const std::vector<TokenId> kPrefix{1, 15043, 29892, 920, 526};  // of the document's worked example

std::string document() {
  std::ifstream file(SLIPSTREAM_SOURCE_DIR "/docs/design/WIRE.md");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// The words of a dump: lines of "OFFSET  eight bytes  what they mean", the offset of four digits.
std::string dump_in(const std::string& text) {
  constexpr size_t kOffsetDigits = 4, kBytesEnd = kOffsetDigits + 1 + 8 * 3;
  std::istringstream lines(text);
  std::string line, dump;
  while (std::getline(lines, line)) {
    const bool offset = line.find_first_not_of("0123456789abcdef") == kOffsetDigits;
    if (offset && line.size() > kBytesEnd && line.substr(kOffsetDigits, 2) == "  ") dump += line.substr(0, kBytesEnd) + "\n";
  }
  return dump;
}

std::string dump_of(const Bytes& bytes) {
  std::string dump;
  for (size_t at = 0; at < bytes.size(); at += 8) {
    dump += fmt::format("{:04x} ", at);
    for (size_t n = at; n < at + 8; ++n) dump += fmt::format(" {:02x}", static_cast<unsigned>(bytes[n]));
    dump += "\n";
  }
  return dump;
}

TEST(WireDocument, TheAnnotatedTreeIsWhatTheCodecWrites) {
  PrefixHash hash;
  hash.add(kPrefix);
  const Tree tree{
      .fence = {.sequence = {.router = 0x1122334455667788, .counter = 7},
                .epoch = 1,
                .round = 3,
                .base_length = static_cast<int32_t>(kPrefix.size()),
                .prefix_hash = hash.value()},
      .nodes = {{.token = 366, .parent = kRoot, .survival = 0.5F}, {.token = 29973, .parent = 0, .survival = 0.25F}},
      .draft_us = 120};
  EXPECT_EQ(dump_in(document()), dump_of(encode(DraftMessage(tree))));
}

TEST(WireDocument, ThePrefixHashesAreOurs) {
  const std::string text = document();
  for (size_t length = 0; length <= kPrefix.size(); ++length) {
    PrefixHash hash;
    hash.add(std::span(kPrefix).first(length));
    const std::string row = fmt::format("| {} | `{:016x}` |", length, hash.value());
    EXPECT_NE(text.find(row), std::string::npos) << row;
  }
}

}  // namespace
}  // namespace slipstream::wire
