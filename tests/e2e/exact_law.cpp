#include "tests/e2e/exact_law.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "common/model/language_model.h"
#include "tests/unit/common/sampling/plain_adjust.h"

namespace slipstream::e2e {
namespace {

constexpr int kBlocks = 64;
constexpr int kChildrenAtOnce = 32;  // rows of one step besides their parent; an ancestor mask has 64 bits

// One step of one sequence whose cache blocks are 0, 1, 2, ...: slot = position.
struct Rows {
  std::vector<int32_t> token, position, slot, sequence, visible, wanted, blocks;
  std::vector<uint64_t> ancestors;
  std::vector<RowSampling> sampling;
  std::vector<std::vector<TokenId>> output;  // [wanted] before the token that is chosen there

  void add(TokenId id, int32_t position_of, int32_t slot_of, int32_t sees, uint64_t mask) {
    token.push_back(id);
    position.push_back(position_of);
    slot.push_back(slot_of);
    sequence.push_back(0);
    visible.push_back(sees);
    ancestors.push_back(mask);
  }
  void want(std::vector<TokenId> after) {  // the row added last
    wanted.push_back(static_cast<int32_t>(token.size()) - 1);
    sampling.emplace_back();
    output.push_back(std::move(after));
  }
  Step step() {
    if (blocks.empty()) {
      for (int block = 0; block < kBlocks; ++block) blocks.push_back(block);
    }
    return {token, position, slot, sequence, visible, ancestors, blocks, kBlocks, sampling, wanted, {}, {}, {}, {}};
  }
};

void add_law(std::span<const float> logits, double temperature, double top_p, std::vector<double>& rows) {
  const double highest = *std::ranges::max_element(logits);
  std::vector<double> law;
  for (float logit : logits) law.push_back(std::exp((logit - highest) / temperature));
  const double total = std::accumulate(law.begin(), law.end(), 0.0);
  std::vector<size_t> order(law.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return law[a] > law[b]; });
  double before = 0;  // of the likelier ones
  for (const size_t token : order) {
    const double mass = law[token];
    if (before >= top_p * total) law[token] = 0;
    before += mass;
  }
  const double kept = std::accumulate(law.begin(), law.end(), 0.0);
  for (const double mass : law) rows.push_back(mass / kept);
}

}  // namespace

Result<ExactLaw> ExactLaw::of(const std::filesystem::path& model, std::span<const TokenId> prompt, const LawSetting& setting) {
  TRY(LanguageModel target, LanguageModel::load(model, {.threads = 1, .path = {}, .cache_blocks = kBlocks}));
  ExactLaw law(target.config().vocabulary);
  const auto size = static_cast<int32_t>(prompt.size());
  const auto run = [&](Rows& rows, std::vector<double>& into) -> Result<void> {
    TRY_VOID(target.run(rows.step()));
    const auto vocabulary = static_cast<size_t>(law.vocabulary_);
    for (size_t i = 0; i < rows.wanted.size(); ++i) {
      const auto logits = target.logits().subspan(i * vocabulary, vocabulary);
      add_law(plain::adjusted({logits.begin(), logits.end()}, setting.how, {prompt.begin(), prompt.end()}, rows.output[i]),
              setting.temperature, setting.top_p, into);
    }
    return {};
  };

  Rows begin;
  for (int32_t i = 0; i < size; ++i) begin.add(prompt[static_cast<size_t>(i)], i, i, i + 1, 0);
  begin.want({});
  TRY_VOID(run(begin, law.first_));
  for (TokenId a = 0; a < law.vocabulary_; ++a) {
    for (int from = 0; from < law.vocabulary_; from += kChildrenAtOnce) {
      Rows tree;  // a, and some tokens after it, each seeing a and itself
      tree.add(a, size, size, size, 1);
      if (from == 0) tree.want({a});
      std::vector<double> rows;
      for (int i = 0; i < std::min(kChildrenAtOnce, law.vocabulary_ - from); ++i) {
        tree.add(from + i, size + 1, size + 1 + i, size, 1 | uint64_t{1} << (i + 1));
        tree.want({a, from + i});
      }
      TRY_VOID(run(tree, rows));
      const auto split = rows.begin() + (from == 0 ? law.vocabulary_ : 0);
      law.second_.insert(law.second_.end(), rows.begin(), split);
      law.third_.insert(law.third_.end(), split, rows.end());
    }
  }
  return law;
}

void ExactLaw::bias(int position, double mass) {
  std::vector<double>& rows = position == 0 ? first_ : position == 1 ? second_ : third_;
  const auto vocabulary = static_cast<size_t>(vocabulary_);
  for (size_t at = 0; at < rows.size(); at += vocabulary) {
    const std::span law = std::span(rows).subspan(at, vocabulary);
    std::vector<size_t> order(vocabulary);
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::partial_sort(order, order.begin() + 2, [&](size_t a, size_t b) { return law[a] > law[b]; });
    const double moved = std::min(mass, law[order[0]]);
    law[order[0]] -= moved;
    law[order[1]] += moved;
  }
}

}  // namespace slipstream::e2e
