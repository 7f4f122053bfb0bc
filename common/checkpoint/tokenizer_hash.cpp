#include "common/checkpoint/tokenizer_hash.h"

#include <algorithm>
#include <memory>
#include <set>
#include <vector>

#include <xxhash.h>

#include "common/checkpoint/json_file.h"

namespace slipstream {
namespace {

using simdjson::dom::element;

// Hashes a sequence of values. Texts are hashed with their lengths and lists with their counts, so
// that two different sequences never give the same bytes ("ab", "c" against "a", "bc").
class Folder {
 public:
  Folder() : state_(XXH3_createState(), &XXH3_freeState) { XXH3_64bits_reset(state_.get()); }

  void number(int64_t value) { XXH3_64bits_update(state_.get(), &value, sizeof value); }
  void text(std::string_view value) {
    number(static_cast<int64_t>(value.size()));
    XXH3_64bits_update(state_.get(), value.data(), value.size());
  }
  // Any JSON value. The members of objects are sorted by key, and those with a default value are
  // left out.
  void json(element value);
  uint64_t digest() const { return XXH3_64bits_digest(state_.get()); }

 private:
  static bool says_nothing(std::string_view key, element value);
  std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state_;
};

// Whether the member is at its default. For the tokenizers library, null, false and "" mean the
// same as an absent member, except for "use_regex", whose default is true.
bool Folder::says_nothing(std::string_view key, element value) {
  if (key == "trim_offsets") return true;  // changes offsets only, which are not used here
  if (bool flag = false; value.get_bool().get(flag) == simdjson::SUCCESS) return flag == (key == "use_regex");
  std::string_view text;
  return value.is_null() || (value.get_string().get(text) == simdjson::SUCCESS && text.empty());
}

void Folder::json(element value) {
  number(static_cast<int64_t>(value.type()));
  if (simdjson::dom::object object; value.get_object().get(object) == simdjson::SUCCESS) {
    std::vector<std::pair<std::string_view, element>> members;
    for (const auto& [key, member] : object) {
      if (!says_nothing(key, member)) members.emplace_back(key, member);
    }
    std::ranges::sort(members, {}, &std::pair<std::string_view, element>::first);
    number(static_cast<int64_t>(members.size()));
    for (const auto& [key, member] : members) {
      text(key);
      json(member);
    }
  } else if (simdjson::dom::array array; value.get_array().get(array) == simdjson::SUCCESS) {
    number(static_cast<int64_t>(array.size()));
    for (const element member : array) json(member);
  } else if (std::string_view words; value.get_string().get(words) == simdjson::SUCCESS) {
    text(words);
  } else {
    text(simdjson::minify(value));
  }
}

using Tokens = std::vector<std::pair<int64_t, std::string_view>>;  // id, token

// Adds the added tokens (those that a text is searched for as a whole), by id. Returns their ids.
Result<std::set<int64_t>> fold_added(const JsonFields& file, Folder& folder) {
  std::vector<std::pair<int64_t, element>> added;
  std::set<int64_t> ids;
  if (file.has("added_tokens")) {
    TRY(const element list, file.element("added_tokens"));
    simdjson::dom::array tokens;
    if (list.get_array().get(tokens) != simdjson::SUCCESS) return fail("{}: \"added_tokens\" must be a list", file.what());
    for (const element token : tokens) {
      int64_t id = 0;
      if (token.at_key("id").get_int64().get(id) != simdjson::SUCCESS) return fail("{}: an added token has no id", file.what());
      added.emplace_back(id, token);
      ids.insert(id);
    }
  }
  std::ranges::stable_sort(added, {}, &std::pair<int64_t, element>::first);
  folder.number(static_cast<int64_t>(added.size()));
  for (const auto& [id, token] : added) folder.json(token);
  return ids;
}

// Adds the vocabulary, by id, without the added tokens, which only some files repeat here.
Result<void> fold_vocabulary(const JsonFields& model, const std::set<int64_t>& added, Folder& folder) {
  TRY(const element value, model.element("vocab"));
  simdjson::dom::object vocabulary;
  if (value.get_object().get(vocabulary) != simdjson::SUCCESS) {
    return fail("{}: \"vocab\" must be an object, as a BPE has it: other kinds, such as Unigram, are not supported",
                model.what());
  }
  Tokens tokens;
  for (const auto& [token, id_value] : vocabulary) {
    int64_t id = 0;
    if (id_value.get_int64().get(id) != simdjson::SUCCESS) return fail("{}: a token's id is no number", model.what());
    if (!added.contains(id)) tokens.emplace_back(id, token);
  }
  std::ranges::sort(tokens);
  folder.number(static_cast<int64_t>(tokens.size()));
  for (const auto& [id, token] : tokens) {
    folder.number(id);
    folder.text(token);
  }
  return {};
}

// Adds the merges in their order, which is their rank. The text "a b" means the pair ["a", "b"].
Result<void> fold_merges(const JsonFields& model, Folder& folder) {
  TRY(const element value, model.element("merges"));
  simdjson::dom::array merges;
  if (value.get_array().get(merges) != simdjson::SUCCESS) return fail("{}: \"merges\" must be a list", model.what());
  int64_t count = 0;
  for (const element merge : merges) {
    std::string_view left, right;
    simdjson::dom::array pair;
    if (merge.get_string().get(left) == simdjson::SUCCESS) {
      const size_t space = std::min(left.find(' '), left.size());
      right = left.substr(std::min(space + 1, left.size()));
      left = left.substr(0, space);
    } else if (merge.get_array().get(pair) != simdjson::SUCCESS || pair.size() != 2 ||
               pair.at(0).get_string().get(left) != simdjson::SUCCESS ||
               pair.at(1).get_string().get(right) != simdjson::SUCCESS) {
      return fail("{}: a merge is no pair of tokens", model.what());
    }
    folder.text(left);
    folder.text(right);
    ++count;
  }
  folder.number(count);
  return {};
}

}  // namespace

Result<uint64_t> hash_tokenizer_json(std::span<const std::byte> json, const std::string& what) {
  TRY(const JsonText text, parse_json_object(json, what));
  const JsonFields file(text.root, what);
  TRY(const JsonFields model, file.object("model"));
  Folder folder;
  TRY(const std::set<int64_t> added, fold_added(file, folder));
  TRY_VOID(fold_vocabulary(model, added, folder));
  TRY_VOID(fold_merges(model, folder));
  for (const std::string_view part : {"normalizer", "pre_tokenizer"}) {
    folder.number(file.has(part) ? 1 : 0);
    if (!file.has(part)) continue;
    TRY(const element value, file.element(part));
    folder.json(value);
  }
  for (const std::string_view part : {"type", "unk_token", "continuing_subword_prefix", "end_of_word_suffix"}) {
    std::string words;
    if (model.has(part)) {
      TRY(words, model.string(part));
    }
    folder.text(words);
  }
  for (const std::string_view part : {"fuse_unk", "byte_fallback", "ignore_merges"}) {
    TRY(const bool on, model.boolean_or(part, false));
    folder.number(on ? 1 : 0);
  }
  return std::max<uint64_t>(folder.digest(), 1);  // 0 stands for "none" in a Fingerprint
}

}  // namespace slipstream
