#include "tools/slipstream/verify/byte_check.h"

#include <algorithm>

#include <fmt/ranges.h>

namespace slipstream::command::verify {
namespace {

constexpr size_t kAroundBytes = 40;  // shown before and after the difference
constexpr size_t kAroundIds = 6;

template <class Sequence>
size_t first_difference(const Sequence& a, const Sequence& b) {
  return static_cast<size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

bool inside_character(const std::string& text, size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
}

// An excerpt around byte `at` that does not split UTF-8 characters.
std::string around(const std::string& text, size_t at) {
  size_t first = at - std::min(at, kAroundBytes);
  size_t last = std::min(text.size(), at + kAroundBytes);
  while (first > 0 && inside_character(text, first)) --first;
  while (inside_character(text, last)) ++last;
  return fmt::format("{}{}{}", first > 0 ? "…" : "", text.substr(first, last - first), last < text.size() ? "…" : "");
}

std::string around(const std::vector<int32_t>& ids, size_t at) {
  const size_t first = at - std::min(at, kAroundIds);
  const size_t last = std::min(ids.size(), at + kAroundIds);
  const std::vector<int32_t> part(ids.begin() + static_cast<ptrdiff_t>(first), ids.begin() + static_cast<ptrdiff_t>(last));
  return fmt::format("{}{}{}", first > 0 ? "… " : "", fmt::join(part, " "), last < ids.size() ? " …" : "");
}

}  // namespace

std::vector<BytesCase> cases(const BytesPlan& plan) {
  std::vector<BytesCase> all;
  for (size_t prompt = 0; prompt < plan.prompts.size(); ++prompt) {
    for (float temperature : plan.temperatures) {
      for (int64_t seed : plan.seeds) {
        all.push_back({prompt, seed, temperature});
        if (temperature == 0) break;
      }
    }
  }
  return all;
}

std::optional<Difference> difference(const BytesCase& where, const Answer& reference, const Answer& candidate, bool ids) {
  // Text decides first, since that is what a user sees; equal texts may still consist of other
  // tokens.
  Difference found{.where = where,
                   .byte = first_difference(reference.text, candidate.text),
                   .near_tie = reference.may_differ || candidate.may_differ};
  if (ids && reference.ids != candidate.ids) found.token = first_difference(reference.ids, candidate.ids);
  if (reference.text != candidate.text) {
    found.what = "text";
    found.reference = around(reference.text, found.byte);
    found.candidate = around(candidate.text, found.byte);
    return found;
  }
  if (found.token) {
    found.what = "token ids";
    found.reference = around(reference.ids, *found.token);
    found.candidate = around(candidate.ids, *found.token);
    return found;
  }
  if (reference.finish == candidate.finish) return std::nullopt;
  found.what = "finish reason";
  found.reference = reference.finish;
  found.candidate = candidate.finish;
  return found;
}

Result<BytesResult> compare_bytes(const QuestionPool& pool, const BytesPlan& plan) {
  const std::vector<BytesCase> all = cases(plan);
  std::vector<Answer> references(all.size()), candidates(all.size());
  Progress progress("bytes: answers", 2 * all.size());
  // Even tasks ask the reference, odd ones the candidate, so that load changes on the machine meet
  // both sides alike.
  TRY_VOID(pool.run(2 * all.size(), progress, [&](ClientPair& clients, size_t at) -> Result<void> {
    const auto& [prompt, seed, temperature] = all[at / 2];
    const Query query{plan.prompts[prompt], seed, temperature, plan.tokens_max};
    const bool candidate = at % 2 != 0;
    TRY((candidate ? candidates : references)[at / 2], candidate ? ask(clients.candidate, pool.servers.candidate, query)
                                                                 : ask(clients.reference, pool.servers.reference, query));
    return {};
  }));
  const bool ids = pool.servers.give_ids();
  BytesResult result{.answers = all.size()};
  for (size_t i = 0; i < all.size(); ++i) {
    result.bytes += references[i].text.size();
    result.tokens += references[i].ids.size();
    result.drafting.add(candidates[i]);
    if (auto found = difference(all[i], references[i], candidates[i], ids)) result.differences.push_back(*std::move(found));
  }
  return result;
}

}  // namespace slipstream::command::verify
