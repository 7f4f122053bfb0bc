#include "tools/train/documents.h"

#include <cctype>

#include <simdjson.h>

#include "common/checkpoint/mapped_file.h"

namespace slipstream::train {
namespace {

constexpr size_t kPieceBytesMax = size_t{1} << 20;

bool space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

Result<void> each_line(const std::filesystem::path& file, std::string_view text,
                       const std::function<Result<void>(std::string_view)>& take) {
  simdjson::dom::parser parser;
  for (size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.find_first_not_of(" \t\r") == line.npos) continue;
    const simdjson::padded_string padded(line);
    simdjson::dom::element entry;
    std::string_view document;
    if (parser.parse(padded).get(entry) != simdjson::SUCCESS || entry["text"].get(document) != simdjson::SUCCESS) {
      return fail("{}: line {} is no JSON object with a string \"text\"", file.string(), number);
    }
    if (auto taken = take(document); !taken) return fail("{}: line {}: {}", file.string(), number, taken.error().message);
  }
  return {};
}

}  // namespace

Result<void> each_document(const std::filesystem::path& file, const std::function<Result<void>(std::string_view)>& take) {
  TRY(const MappedFile mapped, MappedFile::open(file));
  const std::string_view text(reinterpret_cast<const char*>(mapped.bytes().data()), mapped.bytes().size());
  if (file.extension() == ".jsonl") return each_line(file, text, take);
  if (auto taken = take(text); !taken) return fail("{}: {}", file.string(), taken.error().message);
  return {};
}

std::string_view first_piece(std::string_view text, size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  for (size_t end = bytes_max; end > 1; --end) {
    if (text[end - 1] == '\n' && !space(text[end - 2]) && !space(text[end])) return text.substr(0, end);
  }
  // There is no such place: a character of UTF-8 must stay whole, though.
  size_t end = bytes_max;
  while (end > 1 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end);
}

Result<void> append_ids(const Tokenizer& tokenizer, std::string_view text, std::vector<TokenId>& ids) {
  for (bool begins = true; !text.empty(); begins = false) {
    const std::string_view piece = first_piece(text, kPieceBytesMax);
    TRY(const std::vector<TokenId> more,
        begins ? tokenizer.encode(piece, /*parse_special=*/false) : tokenizer.encode_inside(piece));
    ids.insert(ids.end(), more.begin(), more.end());
    text.remove_prefix(piece.size());
  }
  return {};
}

}  // namespace slipstream::train
