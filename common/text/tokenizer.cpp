#include "common/text/tokenizer.h"

#include <algorithm>

#include "common/base/check.h"
#include "common/text/read_file.h"
#include "common/text/rust_bridge.h"

namespace slipstream {

struct Tokenizer::Handle {
  explicit Handle(SlipstreamTokenizer* loaded) : rust(loaded), pieces(slipstream_tokenizer_pieces(loaded)) {
    for (size_t i = 0; i < pieces.count; ++i) {
      longest_piece = std::max(longest_piece, pieces.ends[i] - (i == 0 ? 0 : pieces.ends[i - 1]));
    }
    for (size_t i = 0; i < slipstream_tokenizer_specials(rust); ++i) {
      const SlipstreamSlice special = slipstream_tokenizer_special(rust, i);
      specials.emplace_back(special.data, special.size);
    }
  }
  ~Handle() { slipstream_tokenizer_free(rust); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  SlipstreamTokenizer* rust;
  SlipstreamPieces pieces;     // borrowed from `rust`
  uint32_t longest_piece = 1;  // bytes
  std::vector<std::string> specials;
};

Result<Tokenizer> Tokenizer::load(const std::filesystem::path& tokenizer_json) {
  TRY(const std::string json, read_file(tokenizer_json));
  return parse(json, tokenizer_json.string());
}

Result<Tokenizer> Tokenizer::parse(std::string_view json, const std::string& what) {
  SlipstreamBytes error;
  SlipstreamTokenizer* rust = slipstream_tokenizer_load(slice_of(json), &error);
  if (rust == nullptr) return fail("{} cannot be used as a tokenizer: {}", what, taken(error));
  return Tokenizer(std::make_shared<const Handle>(rust));
}

Result<std::vector<TokenId>> Tokenizer::encode(std::string_view text, bool parse_special, char32_t mark) const {
  SlipstreamIds ids;
  SlipstreamBytes error;
  if (!slipstream_tokenizer_encode(handle_->rust, slice_of(text), parse_special, mark, &ids, &error)) {
    return std::unexpected(Error{taken(error)});
  }
  return taken(ids);
}

Result<std::vector<TokenId>> Tokenizer::encode(std::string_view text, bool parse_special) const {
  return encode(text, parse_special, 0);
}

Result<std::vector<TokenId>> Tokenizer::encode_marked(std::string_view text, char32_t mark) const {
  return encode(text, true, mark);
}

Result<std::vector<TokenId>> Tokenizer::encode_inside(std::string_view text) const {
  SlipstreamIds ids;
  SlipstreamBytes error;
  if (!slipstream_tokenizer_encode_inside(handle_->rust, slice_of(text), &ids, &error)) {
    return std::unexpected(Error{taken(error)});
  }
  return taken(ids);
}

std::vector<TokenId> Tokenizer::prefix() const { return taken(slipstream_tokenizer_prefix(handle_->rust)); }

Result<std::string> Tokenizer::decode(std::span<const TokenId> ids, bool skip_special) const {
  std::string bytes;
  for (TokenId id : ids) {
    TRY(const std::string_view piece, this->piece(id));
    if (!(skip_special && is_special(id))) bytes += piece;
  }
  return bytes;
}

Result<std::string> Tokenizer::whole_text(std::span<const TokenId> ids) const {
  TRY(std::string text, decode(ids, false));
  if (!drops_first_space()) return text;
  size_t first = 0;  // byte behind the special tokens at the beginning
  for (const TokenId id : ids) {
    if (!is_special(id)) break;
    first += piece(id)->size();
  }
  if (text.substr(first).starts_with(' ')) text.erase(first, 1);
  return text;
}

bool Tokenizer::drops_first_space() const { return slipstream_tokenizer_drops_first_space(handle_->rust); }

Result<std::string_view> Tokenizer::piece(TokenId id) const {
  if (id < 0 || id >= vocabulary()) {
    return fail("token id {} is outside the tokenizer's vocabulary of {}: model and tokenizer do not belong together", id,
                vocabulary());
  }
  const SlipstreamPieces& pieces = handle_->pieces;
  const uint32_t begin = id == 0 ? 0 : pieces.ends[id - 1];
  return std::string_view(pieces.bytes + begin, pieces.ends[id] - begin);
}

bool Tokenizer::is_special(TokenId id) const { return id >= 0 && id < vocabulary() && handle_->pieces.is_special[id] != 0; }

size_t Tokenizer::tokens_at_least(size_t text_bytes) const {
  return (text_bytes + handle_->longest_piece - 1) / handle_->longest_piece;
}

std::optional<TokenId> Tokenizer::id(std::string_view token) const {
  const int64_t id = slipstream_tokenizer_id(handle_->rust, slice_of(token));
  return id < 0 ? std::nullopt : std::optional(static_cast<TokenId>(id));
}

std::span<const std::string> Tokenizer::specials() const { return handle_->specials; }
int32_t Tokenizer::vocabulary() const { return static_cast<int32_t>(handle_->pieces.count); }

const SlipstreamTokenizer* Tokenizer::rust() const { return handle_->rust; }

}  // namespace slipstream
