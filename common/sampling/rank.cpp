#include "common/sampling/rank.h"

#include <algorithm>

#include "common/base/check.h"
#include "common/sampling/gumbel_top_k.h"
#include "kernels/exact/exp_fixed.h"

namespace slipstream {
namespace {

// Temperature 0: the highest logits, the lowest id first on ties. The confidence is the softmax
// over the whole row.
size_t rank_logits(const LogitRow& row, SamplingScratch& scratch, std::span<Ranked> out) {
  const VocabularyKernels& kernels = *scratch.chain.kernels;
  const RowScan scan = scan_row(kernels, row.logits, 1.0F, nullptr, scratch.bounds);
  if (!scan.finite) return 0;
  TopK<kRankedMax> highest;
  add_logits(row, scratch.bounds, highest);
  const auto candidates = highest.candidates();
  const auto total = static_cast<double>(kernels.exp_sum(row.logits.data(), std::ssize(row.logits), 1.0F, scan.highest));
  const size_t count = std::min(out.size(), candidates.size());
  for (size_t i = 0; i < count; ++i) {
    const auto weight = static_cast<double>(exp_fixed(candidates[i].key - static_cast<double>(scan.highest)));
    out[i] = {candidates[i].token, static_cast<float>(weight / total)};
  }
  return count;
}

// Above temperature 0 the whole chain applies, as in sample_token(): a token that the filters
// remove cannot be sampled and is not ranked.
size_t rank_row(const LogitRow& row, const RowSampling& sampling, SamplingScratch& scratch, std::span<Ranked> out) {
  CHECK(out.size() <= kRankedMax, "{} candidates were asked for, {} can be ranked", out.size(), kRankedMax);
  const double temperature = sampling.params.temperature;
  if (temperature == 0) return rank_logits(row, scratch, out);
  GumbelTopK<kRankedMax> top(coupled_key(sampling));
  if (!add_row(row, sampling, scratch, top)) return 0;
  const auto candidates = top.candidates();
  // softmax(temperature * key) over the candidates only, all kRankedMax of them even if `out` is
  // shorter: a confidence must not depend on how many are asked for.
  const auto weight_of = [&](const Candidate& each) { return exp_fixed(temperature * (each.key - candidates.front().key)); };
  uint64_t total = 0;
  for (const Candidate& each : candidates) total += weight_of(each);
  const size_t count = std::min(out.size(), candidates.size());
  for (size_t i = 0; i < count; ++i) {
    const auto weight = static_cast<double>(weight_of(candidates[i]));
    out[i] = {candidates[i].token, static_cast<float>(weight / static_cast<double>(total))};
  }
  return count;
}

}  // namespace

SamplingParams sharpened(SamplingParams params) {
  if (params.temperature > 0) params.temperature = std::max(kTemperatureMin, params.temperature * kSharpened);
  return params;
}

size_t rank(std::span<const float> logits, const RowSampling& row, SamplingScratch& scratch, std::span<Ranked> out) {
  return rank_row(whole_row(logits), row, scratch, out);
}

size_t rank(std::span<const float> logits, std::span<const TokenId> tokens, int vocabulary, const RowSampling& row,
            SamplingScratch& scratch, std::span<Ranked> out) {
  return rank_row({logits, tokens, vocabulary}, row, scratch, out);
}

}  // namespace slipstream
