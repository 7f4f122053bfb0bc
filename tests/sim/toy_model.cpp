#include "tests/sim/toy_model.h"

#include <array>

#include "common/base/check.h"
#include "common/model/processed_row.h"
#include "tests/sim/random_source.h"
#include "tests/sim/toy_grammar.h"
#include "tests/unit/common/sampling/adjust.h"

namespace slipstream::sim {

void ToyDistribution::logits(uint64_t context, std::span<float> out) const {
  // Keyed by context and model only: a replay or another verifier computes the same logits.
  RandomSource own(context ^ weights, "logits");
  for (float& logit : out) logit = static_cast<float>(4 * own.share());
  if (noise == 0) return;
  RandomSource other(context ^ weights, "noise");
  for (float& logit : out) logit = static_cast<float>((1 - noise) * logit + noise * 4 * other.share());
}

float ToyDistribution::logprob(uint64_t context) const { return -static_cast<float>((context ^ weights) % 4096); }

void ToyTarget::move(std::span<const KvMove> moves) {
  for (std::vector<uint64_t>* rows : {&cache_, &plane_}) {
    for (const KvMove& move : moves) rows->at(static_cast<size_t>(move.to)) = rows->at(static_cast<size_t>(move.from));
  }
}

std::vector<uint16_t> ToyTarget::features(std::span<const int32_t> slots) const {
  std::vector<uint16_t> numbers;
  for (const int32_t slot : slots) {
    for (int i = 0; i < kToyFeatureNumbers; ++i) {
      numbers.push_back(static_cast<uint16_t>(plane_.at(static_cast<size_t>(slot)) >> 16 * i));
    }
  }
  return numbers;
}

std::vector<TokenId> ToyTarget::run(const Step& step) {
  move(step.moves);
  after_.clear();
  for (size_t row = 0; row < step.token.size(); ++row) {
    const auto slot_of = [&](int32_t position) {
      const auto entry = step.sequence[row] * step.blocks_max + position / kBlockTokens;
      return step.block_table[static_cast<size_t>(entry)] * kBlockTokens + position % kBlockTokens;
    };
    // Reads the cache as attend() does: first the positions before, then the ancestors in the tree.
    // A prompt's row counts itself as its last visible position, a tree's row as its last ancestor;
    // both write their cache row before any row is read.
    ToyContext context;
    const bool in_tree = step.ancestors[row] != 0;
    const int32_t before = in_tree ? step.visible[row] : step.visible[row] - 1;
    for (int32_t position = 0; position < before; ++position) context.read(cache_.at(static_cast<size_t>(slot_of(position))));
    for (int32_t j = 0; j < 64; ++j) {
      if ((step.ancestors[row] >> j & 1) == 0) continue;
      const int32_t slot = slot_of(step.visible[row] + j);
      if (slot != step.slot[row]) context.read(cache_.at(static_cast<size_t>(slot)));
    }
    const uint64_t own = context.row(step.token[row], step.position[row]);
    cache_.at(static_cast<size_t>(step.slot[row])) = own;
    context.read(own);
    after_.push_back(context.hash());
    plane_.at(static_cast<size_t>(step.slot[row])) = context.hash();
  }
  std::vector<TokenId> sampled_tokens;
  std::array<float, kToyVocabulary> logits;
  ProcessedScratch copy;
  for (size_t i = 0; i < step.wanted.size(); ++i) {
    distribution_.logits(after_[static_cast<size_t>(step.wanted[i])], logits);
    sampled_tokens.push_back(sample_token(processed(step, static_cast<int32_t>(i), logits, copy), step.sampling[i], scratch_));
  }
  return sampled_tokens;
}

TokenTree ToyTarget::guess(const HeadAsk& ask, double noise) {
  constexpr float kConfidence = 0.8F;
  const TreeBase& base = ask.base;
  move(base.moves);
  ToyContext context;
  for (int32_t position = 0; position < base.root; ++position) {
    context.read(cache_.at(static_cast<size_t>(slot_in(base.blocks, position))));
  }
  context.add(base.token, base.root);
  ToyDistribution distribution = distribution_;
  distribution.noise = noise;
  std::array<float, kToyVocabulary> logits;
  std::vector<TreeNode> nodes;
  std::vector<TokenId> path;
  for (float survival = kConfidence;; survival *= kConfidence) {
    const auto depth = static_cast<int32_t>(nodes.size()) + 1;
    if (!ask.rule.admits(survival, depth, depth - 1)) break;
    const auto positions = static_cast<int32_t>(base.blocks.size()) * kBlockTokens;
    CHECK(base.root + depth <= positions, "a real head writes row {}; the sequence has {}", base.root + depth - 1, positions);
    distribution.logits(context.hash(), logits);
    if (base.logits_processor) adjust(*base.logits_processor, logits, path);
    const RowSampling row{.seed = ask.seed,
                          .choice = ask.choice,
                          .position = static_cast<uint32_t>(base.output + depth - 1),
                          .params = ask.sampling};
    const TokenId token = sample_token(logits, row, scratch_);
    if (token < 0) break;
    nodes.push_back({.token = token, .parent = depth - 2, .survival = survival});
    path.push_back(token);
    context.add(token, base.root + depth);
  }
  return TokenTree::make(std::move(nodes), kToyVocabulary).value();
}

ToyOracle::ToyOracle(ToyDistribution distribution, const ToyQuestion& question)
    : distribution_(distribution),
      logits_params_(question.logits_params),
      row_{.seed = question.seed, .params = question.sampling} {
  for (TokenId token : question.prompt) add(token);
  prompt_ = tokens_.size();
  if (!question.grammar.empty()) grammar_ = toy_grammars().compile(question.grammar).value();
}

TokenId ToyOracle::next() {
  std::array<float, kToyVocabulary> logits;
  distribution_.logits(context_.hash(), logits);
  if (logits_params_.any()) {  // rebuilt for each token: no state that a replay could lose
    LogitsProcessor logits_processor(logits_params_);
    logits_processor.add_prompt(std::span(tokens_).first(prompt_));
    logits_processor.add_output(std::span(tokens_).subspan(prompt_));
    adjust(logits_processor, logits);
  }
  if (grammar_) allow_only(grammar_->allowed_after({}).value(), logits);
  const TokenId token = sample_token(logits, row_, scratch_);
  if (grammar_ && token != kToyStop) CHECK(grammar_->advance(std::vector{token}), "a text leaves its grammar");
  add(token);
  ++row_.position;
  return token;
}

void ToyOracle::add(TokenId token) {
  context_.add(token, static_cast<int32_t>(tokens_.size()));
  tokens_.push_back(token);
}

}  // namespace slipstream::sim
