#include "common/corpus/corpus.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "common/base/write_whole.h"
#include "common/corpus/sealed_file.h"
#include "common/speculation/ngram_counts.h"

namespace slipstream {
namespace {

constexpr SealedKind kCorpus{
    .magic = "SLIPCORP", .version = 1, .what = "corpus", .remedy = "make it with `slipstream corpus`, or do without it"};

struct Counts {
  uint64_t tokens = 0, positions = 0;
};

template <class T>
std::span<const T> array_at(std::span<const std::byte> bytes, size_t from, uint64_t count) {
  return {reinterpret_cast<const T*>(bytes.data() + from), static_cast<size_t>(count)};
}

void append(std::string& bytes, std::span<const std::byte> more) {
  bytes.append(reinterpret_cast<const char*>(more.data()), more.size());
}

}  // namespace

Result<Corpus> Corpus::open(const std::filesystem::path& path, uint64_t tokenizer, int32_t vocabulary) {
  TRY(MappedFile file, MappedFile::open(path));
  TRY(const std::span<const std::byte> body, unseal(kCorpus, tokenizer, file.bytes(), path.string()));
  const auto broken = [&](std::string_view why) { return fail("{} {}: {}", path.string(), why, kCorpus.remedy); };

  Counts counts;
  if (body.size() < sizeof(counts)) return broken("holds no text");
  std::memcpy(&counts, body.data(), sizeof(counts));
  constexpr auto kMost = static_cast<uint64_t>(kCorpusTokensMax);
  if (counts.tokens > kMost || counts.positions > kMost) return broken("says that it holds more tokens than a corpus may");
  if (sizeof(counts) + sizeof(TokenId) * counts.tokens + sizeof(uint32_t) * counts.positions != body.size()) {
    return broken("is not as long as the numbers in it say");
  }
  const auto tokens = array_at<TokenId>(body, sizeof(counts), counts.tokens);
  const auto order = array_at<uint32_t>(body, sizeof(counts) + tokens.size_bytes(), counts.positions);
  const auto known = [&](TokenId token) { return kTextEnd <= token && token < vocabulary; };
  if (!std::ranges::all_of(tokens, known)) return broken("has tokens that the model has not");
  // An order that is wrong can make guesses wrong, and nothing else.
  if (!std::ranges::all_of(order, [&](uint32_t at) { return at < tokens.size(); }))
    return broken("has an index that is not its own");
  return Corpus(std::move(file), SortedText(tokens, order), static_cast<int64_t>(counts.tokens));
}

Result<void> write_corpus(const std::filesystem::path& path, uint64_t tokenizer, std::span<const TokenId> tokens) {
  if (tokens.empty()) return fail("there is no text for the corpus {}", path.string());
  if (static_cast<int64_t>(tokens.size()) > kCorpusTokensMax) {
    return fail("{} tokens are more than the {} that a corpus may have: leave some out", tokens.size(), kCorpusTokensMax);
  }
  const std::vector<uint32_t> order = SortedText::sort(tokens);
  const Counts counts{.tokens = tokens.size(), .positions = order.size()};
  std::string body;
  append(body, std::as_bytes(std::span(&counts, 1)));
  append(body, std::as_bytes(tokens));
  append(body, std::as_bytes(std::span(order)));
  return replace_whole(path.string(), seal(kCorpus, tokenizer, std::as_bytes(std::span(body))) + body, "the corpus");
}

}  // namespace slipstream
