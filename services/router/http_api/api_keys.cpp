#include "services/router/http_api/api_keys.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <algorithm>
#include <string>

#include "common/base/limits.h"

namespace slipstream {
namespace {

constexpr std::string_view kSpace = " \t\r";

// Takes the first word from `rest`, with the space before it; "": there is none.
std::string_view take_word(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(kSpace), rest.size()));
  const std::string_view word = rest.substr(0, rest.find_first_of(kSpace));
  rest.remove_prefix(word.size());
  return word;
}

// The key of a line; "": the line is blank or a comment.
Result<std::string_view> key_of(std::string_view line) {
  const std::string_view first = take_word(line), second = take_word(line), third = take_word(line);
  if (first.empty() || first.starts_with('#')) return std::string_view{};
  if (second.starts_with('#')) return fail("a comment stands on a line of its own");
  if (!third.empty()) return fail("it has more than two words; write KEY, or NAME KEY");
  const std::string_view key = second.empty() ? first : second;
  if (key.size() > kApiKeyBytesMax) return fail("its key has {} bytes, the limit is {}", key.size(), kApiKeyBytesMax);
  if (!std::ranges::all_of(key, [](char c) { return c > ' ' && c <= '~'; }))
    return fail("its key has a character that is no printable ASCII");
  return key;
}

}  // namespace

ApiKeys::Digest ApiKeys::digest_of(std::string_view key) {
  Digest digest;
  SHA256(reinterpret_cast<const unsigned char*>(key.data()), key.size(), digest.data());
  return digest;
}

Result<ApiKeys> ApiKeys::parse(std::string_view text) {
  ApiKeys keys;
  for (size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const auto key = key_of(line);
    if (!key) return fail("line {} is bad: {}", number, key.error().message);
    if (key->empty()) continue;
    if (keys.has(*key)) return fail("line {} is bad: its key is there already", number);
    if (keys.size() == kApiKeysMax) return fail("line {} is bad: {} keys are the most", number, kApiKeysMax);
    keys.digests_.push_back(digest_of(*key));
  }
  if (keys.digests_.empty()) return fail("it has no key; write one a line");
  return keys;
}

// Digests are compared and not keys, so that the time tells nothing of a key: neither its length
// nor how much of it was right.
bool ApiKeys::has(std::string_view key) const {
  const Digest wanted = digest_of(key);
  int found = 0;
  for (const Digest& digest : digests_)
    found |= static_cast<int>(CRYPTO_memcmp(digest.data(), wanted.data(), wanted.size()) == 0);
  return found != 0;
}

}  // namespace slipstream
