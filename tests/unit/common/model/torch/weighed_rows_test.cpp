// Rows that are weighed by our kernels for GPUs: the same walks as from logits on the host.
#include "services/verifier/weighed_distributions.h"

#include <random>

#include <gtest/gtest.h>

#include "common/messages/rules.h"
#include "services/verifier/verify_job.h"
#include "tests/unit/common/model/rows.h"
#include "tests/unit/common/model/torch/torch_models.h"

namespace slipstream {
namespace {

constexpr int32_t kVocabulary = 64;  // of tiny-llama

// Likely tokens of a draft model: some of the vocabulary, the children's own among them.
OwnedDistribution random_draft(const std::vector<TokenId>& children, std::mt19937_64& random) {
  OwnedDistribution all, q;
  for (TokenId token = 0; token < kVocabulary; ++token) {
    const bool drafted = std::ranges::count(children, token) > 0;
    if (drafted || random() % 16 == 0) all.add(token, 1 + random() % 1000);
  }
  quantise(all.view(), kDraftDistributionTokensMax, q);
  return q;
}

DraftTree random_tree(const std::vector<TreeNode>& nodes, std::mt19937_64& random) {
  std::vector<OwnedDistribution> distributions(nodes.size() + 1);
  for (size_t row = 0; row <= nodes.size(); ++row) {
    std::vector<TokenId> children;
    for (const TreeNode& node : nodes) {
      if (node.parent + 1 == static_cast<int32_t>(row)) children.push_back(node.token);
    }
    if (!children.empty()) distributions[row] = random_draft(children, random);
  }
  return DraftTree::make(nodes, std::move(distributions), Replacement::without, kVocabulary).value();
}

class Weighed : public testing::TestWithParam<Rule> {
 protected:
  // A step with two trees, as the verifier asks for it: it samples nothing, and the tasks know how.
  // The second one's rows have penalties, and their task filters.
  void run() {
    BlockTable blocks(pool_), other(pool_);
    ASSERT_TRUE(blocks.reserve(12) && other.reserve(12));
    Rows prompt(1);
    for (const BlockTable* table : {&blocks, &other}) {
      prompt.prompt(prompt.sequence_of(*table), *table, std::vector<TokenId>{5, 6, 7}, 0);
    }
    ASSERT_TRUE(target_.run(prompt.view()));
    const bool chains = GetParam() != Rule::ratio && GetParam() != Rule::traversal;
    const std::vector<TreeNode> chain{{9, kRoot, 1}, {11, 0, 1}}, tree{{9, kRoot, 1}, {40, kRoot, 1}, {11, 0, 1}};
    first_nodes_ = chain, second_nodes_ = chains ? chain : tree;
    step_.tree(step_.sequence_of(blocks), blocks, 3, 8, first_nodes_);
    step_.tree(step_.sequence_of(other), other, 3, 8, second_nodes_);
    LogitsProcessor processor({.repetition_penalty = 3, .bias = {{9, 2}, {17, -5}}});
    processor.add_output(std::vector<TokenId>{1, 2, 3, 40});
    const int32_t index = step_.add_logits_processor(std::make_shared<const LogitsProcessor>(std::move(processor)));
    for (size_t row = 0; row < step_.sampling.size(); ++row) {
      const bool second = row > first_nodes_.size();
      step_.sampling[row].params = kLogitsOnly;
      if (second) step_.processed.push_back({.wanted = static_cast<int32_t>(row), .logits_processor = index});
    }
    ASSERT_TRUE(target_.run(step_.view()));
  }
  RejectionTask task(size_t first, const std::vector<TreeNode>& nodes, Round round, std::mt19937_64& random) const {
    return {.first_wanted = first,
            .tree = random_tree(nodes, random),
            .acceptance = {.rule = GetParam(), .strength = GetParam() == Rule::lenience ? 0.7F : 0.02F, .delta = 0.5F},
            .sampling = {.temperature = 0.8F, .top_k = first > 0 ? 100 : 0, .top_p = first > 0 ? 0.95F : 1.0F},
            .seed = 4,
            .round = round};
  }

  BlockPool pool_{8};
  LanguageModel target_ =
      LanguageModel::load(test_data("tiny-llama"), on_kernels(2, Type::bf16).value(), {.cache_blocks = 8}).value();
  Rows step_{1};
  std::vector<TreeNode> first_nodes_, second_nodes_;
};

TEST_P(Weighed, RowsAcceptWhatTheirLogitsAccept) {
  run();
  ASSERT_NE(target_.weigher(), nullptr);
  std::mt19937_64 random(1);
  VerifyScratch scratch;
  const Step step = step_.view();
  size_t accepted = 0, ended = 0;
  for (Round round = 0; round < 150; ++round) {
    std::vector<RejectionTask> tasks{task(0, first_nodes_, round, random)};  // more rows than were weighed before
    if (round > 1) tasks.push_back(task(first_nodes_.size() + 1, second_nodes_, round, random));
    const auto found = accept_all(target_, step, tasks, scratch);
    ASSERT_TRUE(found) << found.error().message;
    for (size_t i = 0; i < tasks.size(); ++i) {
      const size_t rows = static_cast<size_t>(tasks[i].tree.size()) + 1;
      const auto logits = target_.logits().subspan(tasks[i].first_wanted * kVocabulary, rows * kVocabulary);
      const RejectionResult expected = accept_in_job(tasks[i], step, logits, scratch);
      ASSERT_EQ((*found)[i].walk.accepted, expected.walk.accepted) << "round " << round << ", task " << i;
      ASSERT_EQ((*found)[i].walk.emitted, expected.walk.emitted) << "round " << round << ", task " << i;
      ASSERT_EQ((*found)[i].spent, expected.spent);
      accepted += expected.walk.accepted.size();
      ended += expected.walk.accepted.empty() ? 1 : 0;
    }
  }
  EXPECT_GT(accepted, 0U) << "some drafts are accepted";
  EXPECT_GT(ended, 0U) << "some are not";
}

TEST_P(Weighed, RowsWithoutATokenLeftAreRefused) {
  run();
  TokenMask none(kVocabulary);
  step_.masks.push_back(std::make_shared<const RowMask>(std::make_shared<const TokenMask>(none)));
  step_.processed.front().mask = 0;
  ASSERT_TRUE(target_.run(step_.view()));
  std::mt19937_64 random(2);
  VerifyScratch scratch;
  const std::vector<RejectionTask> tasks{task(first_nodes_.size() + 1, second_nodes_, 0, random)};
  EXPECT_EQ(accept_all(target_, step_.view(), tasks, scratch).value()[0].walk.emitted, std::vector<TokenId>{-1});
}

INSTANTIATE_TEST_SUITE_P(, Weighed,
                         testing::Values(Rule::ratio, Rule::traversal, Rule::lenience, Rule::uniform, Rule::typical,
                                         Rule::pareto),
                         [](const auto& info) { return std::string(name_of(Acceptance{.rule = info.param})); });

}  // namespace
}  // namespace slipstream
