// A SmallLm on the committed random Llama, and the model itself beside it.
#pragma once

#include <filesystem>
#include <memory>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "common/drafting/small_lm.h"
#include "common/model/cpu/cpu_device.h"

namespace slipstream {

inline const std::filesystem::path kTiny = std::filesystem::path(SLIPSTREAM_TEST_DATA) / "tiny-llama";
constexpr int32_t kVocabulary = 64;

inline DraftKey key_of(uint64_t counter, uint64_t verifier = 1) { return {Peer{verifier}, SequenceId{7, counter}}; }

inline std::unique_ptr<SmallLm> load(SmallLmOptions options = {}) {
  if (options.folder.empty()) options.folder = kTiny;
  if (options.vocabulary == 0) options.vocabulary = kVocabulary;
  if (options.device == nullptr) options.device = make_cpu_device({}).value();
  auto method = SmallLm::load(options);
  EXPECT_TRUE(method.has_value()) << method.error().message;
  return *std::move(method);
}

inline std::vector<TokenId> random_tokens(uint64_t seed, size_t count) {
  std::mt19937_64 random(seed);
  std::vector<TokenId> tokens(count);
  for (TokenId& token : tokens) token = static_cast<TokenId>(4 + random() % 60);
  return tokens;
}

inline GenerationSpec spec_of(const std::vector<TokenId>& prompt, float temperature, uint64_t seed = 5) {
  return {.prompt_length = static_cast<int32_t>(prompt.size()), .sampling = {.temperature = temperature}, .seed = seed};
}

// A model itself, the target unless told, without any speculation: all tokens in one pass, the last
// row's choice.
class Plain {
 public:
  explicit Plain(const std::filesystem::path& folder = kTiny)
      : model_(LanguageModel::load(folder, make_cpu_device({}).value(), {.cache_blocks = kBlocks})) {}

  TokenId next(const std::vector<TokenId>& tokens, const GenerationSpec& spec) {
    BlockPool pool(kBlocks);
    BlockTable table(pool);
    EXPECT_TRUE(table.reserve(static_cast<int32_t>(tokens.size())));
    plan_.clear();
    plan_.blocks_max = kBlocks;
    plan_.add_sequence(table.blocks());
    for (int32_t at = 0; at < static_cast<int32_t>(tokens.size()); ++at) {
      plan_.add({.token = tokens[static_cast<size_t>(at)], .position = at, .slot = table.slot(at), .visible = at + 1});
    }
    const auto prompt = static_cast<size_t>(spec.prompt_length);
    auto logits_processor = std::make_shared<LogitsProcessor>(spec.logits_params);
    logits_processor->add_prompt(std::span(tokens).first(prompt));
    logits_processor->add_output(std::span(tokens).subspan(prompt));
    plan_.want(spec.row(static_cast<int32_t>(tokens.size()) - spec.prompt_length));
    plan_.process(plan_.add_logits_processor(std::move(logits_processor)), 1, [](int) { return TokenId{}; }, nullptr);
    const auto sampled_tokens = model_->run(plan_.view());
    EXPECT_TRUE(sampled_tokens.has_value()) << sampled_tokens.error().message;
    return sampled_tokens->front();
  }
  std::span<const float> logits() const { return model_->logits(); }  // of the row chosen last

 private:
  static constexpr int32_t kBlocks = 8;
  Result<LanguageModel> model_;
  StepPlan plan_;
};

// One tree; asks again while the method still prefills.
inline TokenTree draft(SmallLm& method, const DraftKey& key, const StopRule& rule = {}) {
  const std::vector<DraftAsk> asks{{key, rule}};
  for (int tries = 0; tries < 100; ++tries) {
    auto trees = method.draft(asks);
    EXPECT_TRUE(trees.has_value()) << trees.error().message;
    if (trees->at(0)) return trees->at(0)->tokens();
  }
  ADD_FAILURE() << "it never prefills";
  return {};
}

// The tree that a method which has seen nothing else gives for these tokens.
inline std::vector<TreeNode> fresh(const std::vector<TokenId>& tokens, const GenerationSpec& spec, const StopRule& rule = {}) {
  const auto method = load();
  method->begin(key_of(1), spec);
  method->advance(key_of(1), tokens);
  const TokenTree tree = draft(*method, key_of(1), rule);
  return {tree.nodes().begin(), tree.nodes().end()};
}

// So many rounds of one sequence, whose `tokens` the method has: chains of five nodes, each of them
// what the target would choose.
inline void expect_always_right(SmallLm& method, Plain& target, const DraftKey& key, std::vector<TokenId>& tokens,
                                const GenerationSpec& spec, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    const TokenTree tree = draft(method, key, {.nodes_max = 5});
    ASSERT_EQ(tree.size(), 5);
    std::vector<TokenId> emitted;
    for (int node = 0; node <= tree.size(); ++node) {
      emitted.push_back(target.next(tokens, spec));
      tokens.push_back(emitted.back());
      if (node < tree.size()) {
        ASSERT_EQ(tree.nodes()[node].token, emitted.back()) << "round " << round;
      }
    }
    method.advance(key, emitted);
  }
}

inline std::vector<TreeNode> nodes_of(const TokenTree& tree) { return {tree.nodes().begin(), tree.nodes().end()}; }

}  // namespace slipstream
