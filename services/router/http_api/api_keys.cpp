#include "services/router/http_api/api_keys.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <system_error>

#include "common/base/ascii_case.h"
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

struct Line {
  std::string_view key;  // "": the line is blank or a comment
  KeyLimits limits = {};
  bool admin = false;
  bool goes_first = false;
};

constexpr size_t kLimitedKeyBytesLeast =
    6;  // of a key that stands alone before limits: a shorter word is a name whose key is missing
constexpr std::string_view kAdmin = "admin", kPriority = "priority";
constexpr size_t kAdminKeyBytesLeast = 16;  // and of one with the word priority
constexpr std::string_view kPerMinute = "rpm=", kAtOnce = "concurrent=";

bool is_limit(std::string_view word) { return word.starts_with(kPerMinute) || word.starts_with(kAtOnce); }

// A limit that is spelt wrongly would otherwise be taken for a key, which anybody may guess.
bool looks_like_limit(std::string_view word) {
  const size_t equals = word.find('=');
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return equals != word.npos && equals > 0 && equals + 1 < word.size() && std::ranges::all_of(word.substr(0, equals), letter) &&
         std::ranges::all_of(word.substr(equals + 1), digit);
}

Result<void> read_limit(std::string_view word, KeyLimits& limits) {
  const bool per_minute = word.starts_with(kPerMinute);
  const std::string_view number = word.substr((per_minute ? kPerMinute : kAtOnce).size());
  int32_t& limit = per_minute ? limits.per_minute : limits.at_once;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), limit);
  if (error == std::errc() && end == number.data() + number.size() && limit >= 1 && limit <= kKeyLimitMost) return {};
  return fail("{} must be a number between 1 and {}", word.substr(0, word.find('=')), kKeyLimitMost);
}

Result<void> check_key(std::string_view key) {
  if (key.size() > kApiKeyBytesMax) return fail("its key has {} bytes, the limit is {}", key.size(), kApiKeyBytesMax);
  if (std::ranges::all_of(key, [](char c) { return c > ' ' && c <= '~'; })) return {};
  return fail("its key has a character that is no printable ASCII");
}

bool is_right(std::string_view word) { return word == kAdmin || word == kPriority; }

// Takes the limits, `admin` and `priority` from the end.
Result<void> take_rights(std::vector<std::string_view>& words, Line& line) {
  for (; words.size() > 1 && (is_limit(words.back()) || is_right(words.back())); words.pop_back()) {
    if (is_limit(words.back())) TRY_VOID(read_limit(words.back(), line.limits));
    line.admin |= words.back() == kAdmin;
    line.goes_first |= is_right(words.back());
  }
  for (const std::string_view right : {kAdmin, kPriority}) {
    const bool misspelt = words.size() > 1 && words.back().size() == right.size() && is_but_for_case(words.back(), right);
    if (misspelt)
      return fail("{} is no key; the word behind {} key is {}, in small letters", words.back(),
                  right == kAdmin ? "an admin's" : "a", right);
  }
  if (line.goes_first && words.size() == 1)
    return fail("the word {0} stands behind a name and its key, as in NAME KEY {0}; here the name or the key is missing",
                line.admin ? kAdmin : kPriority);
  if (line.goes_first && words.back().size() < kAdminKeyBytesLeast)
    return fail("the key of an admin{} has at least {} characters", line.admin ? "" : ", or with the word priority,",
                kAdminKeyBytesLeast);
  return {};
}

Result<Line> read_line(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::string_view word = take_word(text); !word.empty(); word = take_word(text)) words.push_back(word);
  Line line;
  if (words.empty() || words.front().starts_with('#')) return line;
  TRY_VOID(take_rights(words, line));
  const bool limited = line.limits != KeyLimits{};
  if (words.size() > 1 && words[1].starts_with('#')) return fail("a comment stands on a line of its own");
  if (words.size() > 1 && looks_like_limit(words.back()))
    return fail("{} is no limit; there are rpm=N and concurrent=N", words.back());
  if (words.size() == 1 && limited && words.front().size() < kLimitedKeyBytesLeast)
    return fail("{} is too short for a key; behind a name the key is missing, or it has fewer than {} characters",
                words.front(), kLimitedKeyBytesLeast);
  if (words.size() > 2)
    return fail("it has more than two words; write KEY, or NAME KEY, and limits such as rpm=60, admin or priority behind them");
  line.key = words.back();
  TRY_VOID(check_key(line.key));
  return line;
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
    const auto read = read_line(line);
    if (!read) return fail("line {} is bad: {}", number, read.error().message);
    if (read->key.empty()) continue;
    if (keys.has(read->key)) return fail("line {} is bad: its key is there already", number);
    if (keys.size() == kApiKeysMax) return fail("line {} is bad: {} keys are the most", number, kApiKeysMax);
    keys.digests_.push_back(digest_of(read->key));
    keys.limits_.push_back(read->limits);
    keys.admins_.push_back(read->admin);
    keys.go_first_.push_back(read->goes_first);
  }
  if (keys.digests_.empty()) return fail("it has no key; write one a line");
  return keys;
}

// Digests are compared and not keys, so that the time tells nothing of a key: neither its length
// nor how much of it was right.
std::optional<size_t> ApiKeys::place_of(std::string_view key) const {
  const Digest wanted = digest_of(key);
  std::optional<size_t> found;
  for (size_t at = 0; at < digests_.size(); ++at) {
    if (CRYPTO_memcmp(digests_[at].data(), wanted.data(), wanted.size()) == 0) found = at;
  }
  return found;
}

std::optional<KeyLimits> ApiKeys::find(std::string_view key) const {
  const auto at = place_of(key);
  return at ? std::optional(limits_[*at]) : std::nullopt;
}

bool ApiKeys::is_admin(std::string_view key) const {
  const auto at = place_of(key);
  return at && admins_[*at];
}

bool ApiKeys::may_go_first(std::string_view key) const {
  const auto at = place_of(key);
  return at && go_first_[*at];
}

}  // namespace slipstream
