#include "tests/e2e/support/exact_distribution.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "common/model/cpu/cpu_device.h"
#include "common/model/language_model.h"
#include "tests/unit/common/sampling/plain_process.h"

namespace slipstream::e2e {
namespace {

constexpr int kBlocks = 64;
constexpr size_t kTokensAtOnce = 32;  // rows of one step besides their path; an ancestor mask has 64 bits

// One step of one sequence whose cache blocks are 0, 1, 2, ...: slot = position.
struct Rows {
  std::vector<int32_t> token, position, slot, no_parent, sequence, visible, wanted, blocks;  // no draft head reads parents
  std::vector<uint64_t> ancestors;
  std::vector<RowSampling> sampling;
  std::vector<std::vector<TokenId>> output;  // [wanted] before the token that is chosen there

  void add(TokenId id, int32_t position_of, int32_t slot_of, int32_t sees, uint64_t mask) {
    token.push_back(id);
    position.push_back(position_of);
    slot.push_back(slot_of);
    no_parent.push_back(-1);
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
    return {.token = token,
            .position = position,
            .slot = slot,
            .parent_slot = no_parent,
            .sequence = sequence,
            .visible = visible,
            .ancestors = ancestors,
            .block_table = blocks,
            .blocks_max = kBlocks,
            .sampling = sampling,
            .wanted = wanted};
  }
};

std::vector<double> distribution_of(std::span<const float> logits, double temperature, double top_p) {
  const double highest = *std::ranges::max_element(logits);
  std::vector<double> distribution;
  for (float logit : logits) distribution.push_back(std::exp((logit - highest) / temperature));
  const double total = std::accumulate(distribution.begin(), distribution.end(), 0.0);
  std::vector<size_t> order(distribution.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return distribution[a] > distribution[b]; });
  double before = 0;  // of the likelier ones
  for (const size_t token : order) {
    const double mass = distribution[token];
    if (before >= top_p * total) distribution[token] = 0;
    before += mass;
  }
  const double kept = std::accumulate(distribution.begin(), distribution.end(), 0.0);
  for (double& mass : distribution) mass /= kept;
  return distribution;
}

// All sequences of so many candidates, the last token running fastest.
std::vector<std::vector<TokenId>> all_paths(std::span<const TokenId> candidates, size_t length) {
  std::vector<std::vector<TokenId>> paths(1);
  for (; length > 0; --length) {
    std::vector<std::vector<TokenId>> longer;
    for (const auto& path : paths) {
      for (const TokenId token : candidates) {
        longer.push_back(path);
        longer.back().push_back(token);
      }
    }
    paths = std::move(longer);
  }
  return paths;
}

// Some tokens behind `path`, each seeing the path and itself; their distributions are wanted.
Rows fan(int32_t prompt, const std::vector<TokenId>& path, std::span<const TokenId> tokens) {
  Rows rows;
  const auto depth = static_cast<int32_t>(path.size());
  uint64_t mask = 0;
  for (int32_t i = 0; i < depth; ++i) {
    mask |= uint64_t{1} << i;
    rows.add(path[static_cast<size_t>(i)], prompt + i, prompt + i, prompt, mask);
  }
  for (int32_t row = depth; const TokenId token : tokens) {
    rows.add(token, prompt + depth, prompt + row, prompt, mask | uint64_t{1} << row);
    std::vector<TokenId> output = path;
    output.push_back(token);
    rows.want(std::move(output));
    ++row;
  }
  return rows;
}

void move(std::span<double> distribution, size_t from, size_t to, double mass) {
  const double moved = std::min(mass, distribution[from]);
  distribution[from] -= moved;
  distribution[to] += moved;
}

}  // namespace

Result<ExactDistribution> ExactDistribution::of(const std::filesystem::path& model, std::span<const TokenId> prompt,
                                                size_t length, const DistributionSetting& setting) {
  TRY(std::shared_ptr<Device> device, make_cpu_device({}));
  TRY(LanguageModel target, LanguageModel::load(model, device, {.cache_blocks = kBlocks}));
  const auto vocabulary = static_cast<size_t>(target.config().vocabulary);
  ExactDistribution distribution;
  distribution.candidates_ = setting.how.allowed;
  if (distribution.candidates_.empty()) {
    distribution.candidates_.resize(vocabulary);
    std::iota(distribution.candidates_.begin(), distribution.candidates_.end(), TokenId{0});
  }
  std::ranges::sort(distribution.candidates_);
  distribution.rows_.resize(length);
  const auto run = [&](Rows& rows, std::vector<double>& into) -> Result<void> {
    TRY_VOID(target.run(rows.step()));
    for (size_t i = 0; i < rows.wanted.size(); ++i) {
      const auto logits = target.logits().subspan(i * vocabulary, vocabulary);
      const std::vector<double> all = distribution_of(
          plain::processed({logits.begin(), logits.end()}, setting.how, {prompt.begin(), prompt.end()}, rows.output[i]),
          setting.temperature, setting.top_p);
      for (const TokenId token : distribution.candidates_) into.push_back(all[static_cast<size_t>(token)]);
    }
    return {};
  };

  const auto size = static_cast<int32_t>(prompt.size());
  Rows begin;
  for (int32_t i = 0; i < size; ++i) begin.add(prompt[static_cast<size_t>(i)], i, i, i + 1, 0);
  begin.want({});
  TRY_VOID(run(begin, distribution.rows_.at(0)));
  for (size_t position = 1; position < length; ++position) {
    const auto paths = all_paths(distribution.candidates_, position - 1);
    for (const std::vector<TokenId>& path : paths) {
      for (std::span<const TokenId> left = distribution.candidates_; !left.empty();) {
        const auto tokens = left.first(std::min(left.size(), kTokensAtOnce));
        left = left.subspan(tokens.size());
        Rows tree = fan(size, path, tokens);
        TRY_VOID(run(tree, distribution.rows_[position]));
      }
    }
  }
  return distribution;
}

size_t ExactDistribution::index(TokenId candidate) const {
  const auto at = std::ranges::lower_bound(candidates_, candidate);
  if (at == candidates_.end() || *at != candidate)
    throw std::runtime_error(fmt::format("token {} is none of these", candidate));
  return static_cast<size_t>(at - candidates_.begin());
}

std::span<const double> ExactDistribution::after(std::span<const TokenId> before) const {
  size_t row = 0;
  for (const TokenId token : before) row = row * candidates_.size() + index(token);
  return std::span(rows_.at(before.size())).subspan(row * candidates_.size(), candidates_.size());
}

template <class Change>
void ExactDistribution::change(size_t position, const Change& change) {
  std::vector<double>& rows = rows_.at(position);
  std::vector<size_t> order(candidates_.size());
  for (size_t at = 0; at < rows.size(); at += order.size()) {
    const std::span distribution = std::span(rows).subspan(at, order.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, [&](size_t a, size_t b) { return distribution[a] > distribution[b]; });
    change(distribution, order);
  }
}

void ExactDistribution::bias(size_t position, double mass) {
  change(position, [mass](std::span<double> distribution, const std::vector<size_t>& order) {
    move(distribution, order[0], order[1], mass);
  });
}

void ExactDistribution::scatter(size_t position, double mass) {
  std::mt19937_64 random(position);
  change(position, [&](std::span<double> distribution, const std::vector<size_t>& order) {
    constexpr std::array<std::pair<size_t, size_t>, 3> kPairs{{{0, 1}, {0, 2}, {1, 2}}};  // the likelier one first
    const uint64_t sampled = random();
    const size_t able = order.size() > 2 && distribution[order[2]] > 0 ? kPairs.size() : 1;
    auto [from, to] = kPairs[sampled / 2 % able];
    if (distribution[order[to]] == 0) return;
    if (sampled % 2 == 1 && distribution[order[to]] >= mass) std::swap(from, to);
    move(distribution, order[from], order[to], mass);
  });
}

}  // namespace slipstream::e2e
