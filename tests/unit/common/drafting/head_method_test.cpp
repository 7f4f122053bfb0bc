// A draft head in a process of its own: it drafts what it would draft beside its target.
#include "common/drafting/head_method.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/model/cpu/cpu_device.h"
#include "tests/unit/common/model/extra_head.h"

namespace slipstream {
namespace {

using testing::HasSubstr;

constexpr int32_t kBlocks = 64;
const std::filesystem::path kTarget = std::filesystem::path(SLIPSTREAM_TEST_DATA) / "tiny-llama";
const DraftKey kKey{Peer{1}, SequenceId{7, 1}}, kOther{Peer{1}, SequenceId{7, 2}};

// The same kernels on every machine: guesses that are nearly alike keep their order.
std::shared_ptr<Device> device() { return make_cpu_device({.path = CpuPath::portable}).value(); }

std::vector<TokenId> text_of(int32_t tokens, TokenId first = 0) {
  std::vector<TokenId> text;
  for (int32_t i = 0; i < tokens; ++i) text.push_back(4 + (first + i * 7 + i * i % 5) % 60);
  return text;
}

GenerationSpec spec_of(int32_t prompt, float temperature = 1) {
  return {.prompt_length = prompt, .sampling = {.temperature = temperature}, .seed = 9};
}

// The target as a verifier has it: it computes a text, and tells its features. With the whole head
// it drafts as well.
class Target {
 public:
  Target(const std::filesystem::path& head, HeadPart part, int32_t rows = 0)
      : model_(
            LanguageModel::load(kTarget, device(), {.cache_blocks = kBlocks, .rows_max = rows, .head = head, .head_part = part})
                .value()) {
    plan_.blocks_max = 8;
  }
  const LanguageModel& model() const { return model_; }

  // [tokens - 1] of all but the newest token.
  std::vector<uint16_t> features(const std::vector<TokenId>& text) {
    CachedSequence sequence = computed(text, 1);
    std::vector<int32_t> slots;
    for (int32_t position = 0; position < sequence.root(); ++position) slots.push_back(sequence.slot(position));
    std::vector<uint16_t> rows;
    EXPECT_TRUE(model_.read_features(slots, rows).has_value());
    return rows;
  }
  DraftTree draft_tree(const std::vector<TokenId>& text, const GenerationSpec& spec, const StopRule& rule) {
    CachedSequence sequence = computed(text, spec.prompt_length);
    ContextWords words;
    if (const TokenMask* own = model_.draft_vocabulary()) words.read(text, *own);
    std::vector<HeadAsk> asks{{.base = take_base(sequence),
                               .rule = rule,
                               .seed = spec.seed,
                               .choice = spec.choice,
                               .sampling = spec.sampling,
                               .acceptance = spec.acceptance,
                               .words = {words.latest().begin(), words.latest().end()}}};
    ExtraTokens extra(model_);
    return std::move(draft_by_head(model_, asks, extra, plan_).value().trees.front());
  }
  TokenTree draft(const std::vector<TokenId>& text, const GenerationSpec& spec, const StopRule& rule) {
    return draft_tree(text, spec, rule).tokens();
  }

 private:
  CachedSequence computed(const std::vector<TokenId>& text, int32_t prompt) {
    CachedSequence made(cache_.pool(), prompt);
    made.append(text);
    EXPECT_TRUE(cache_.reserve(made, made.size() + kTreeNodesMax, MayEvict::prefixes));
    while (made.prefill_rows() > 0) {
      plan_.clear();
      Pass pass(plan_);
      const int32_t rows = std::min(made.prefill_rows(), model_.step_rows());
      pass.add_context(made, rows);
      EXPECT_TRUE(model_.run(plan_.view()).has_value());
      made.computed(rows);
    }
    return made;
  }

  LanguageModel model_;
  SequenceCache cache_{kBlocks, [](const CachedSequence&) { return nullptr; }};
  StepPlan plan_;
};

class HeadMethodTest : public testing::Test {
 protected:
  // Tokens [from, text.size()) with their features, as a verifier tells them: the first one alone.
  void tell(const DraftKey& key, const std::vector<TokenId>& text, size_t from) {
    const std::vector<uint16_t> features = verifier_.features(text);
    const auto numbers = static_cast<size_t>(method_->features_read().numbers);
    if (from == 0) {
      method_->advance(key, std::span(text).first(1));
      from = 1;
    }
    method_->see(key, std::span(features).subspan((from - 1) * numbers));
    method_->advance(key, std::span(text).subspan(from));
  }
  TokenTree draft(const DraftKey& key, const StopRule& rule) {
    return TokenTree(method_->draft(std::vector{DraftAsk{.key = key, .rule = rule}}).value().front().value().tokens());
  }

  Folder folder_;
  std::filesystem::path head_ = extra_head(folder_);
  Target verifier_{head_, HeadPart::features}, alone_{head_, HeadPart::whole};
  std::unique_ptr<HeadMethod> method_ =
      HeadMethod::load({.model = kTarget, .head = head_, .device = device(), .cache_tokens = 2048}).value();
};

// [nodes] the tokens from the root to each, and its survival.
std::map<std::vector<TokenId>, float> paths(const TokenTree& tree) {
  std::map<std::vector<TokenId>, float> survivals;
  std::vector<std::vector<TokenId>> path(static_cast<size_t>(tree.size()));
  for (size_t i = 0; i < path.size(); ++i) {
    const TreeNode& node = tree.nodes()[i];
    if (node.parent != kRoot) path[i] = path[static_cast<size_t>(node.parent)];
    path[i].push_back(node.token);
    survivals[path[i]] = node.survival;
  }
  return survivals;
}

// Features travel in bf16, so survivals differ a little, and nodes that are nearly as likely as the
// last one may be left out.
void expect_alike(const TokenTree& one, const TokenTree& other) {
  constexpr float kNear = 0.02F;
  const auto there = paths(other);
  ASSERT_EQ(one.size(), other.size());
  const float last = std::ranges::min(other.nodes(), {}, &TreeNode::survival).survival;
  for (const auto& [path, survival] : paths(one)) {
    const auto at = there.find(path);
    const float expected = at == there.end() ? last : at->second;
    EXPECT_NEAR(survival, expected, kNear) << testing::PrintToString(path);
  }
}

// Its trees leave features of guesses behind the root, which those of the target replace.
TEST_F(HeadMethodTest, DraftsWhatItWouldDraftBesideItsTarget) {
  const StopRule rule{.nodes_max = 6, .depth_max = 4};
  for (const float temperature : {0.0F, 1.0F}) {
    const std::vector<TokenId> text = text_of(120);
    const GenerationSpec spec = spec_of(40, temperature);
    method_->begin(kKey, spec);
    size_t held = 0;
    for (const size_t tokens : {40U, 41U, 44U, 45U, 78U, 120U}) {
      const std::vector<TokenId> now(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(tokens));
      tell(kKey, now, held);
      held = tokens;
      SCOPED_TRACE(fmt::format("{} tokens, temperature {}", tokens, temperature));
      expect_alike(draft(kKey, rule), alone_.draft(now, spec, rule));
    }
  }
}

TEST_F(HeadMethodTest, DraftsForSeveralSequencesAtOnce) {
  const StopRule rule{.nodes_max = 5, .depth_max = 3};
  const std::vector<TokenId> one = text_of(50), two = text_of(9, 3);
  method_->begin(kKey, spec_of(50));
  method_->begin(kOther, spec_of(9));
  tell(kKey, one, 0);
  tell(kOther, two, 0);
  const auto trees = method_->draft(std::vector{DraftAsk{.key = kOther, .rule = rule}, DraftAsk{.key = kKey, .rule = rule}});
  expect_alike((*trees)[0]->tokens(), alone_.draft(two, spec_of(9), rule));
  expect_alike((*trees)[1]->tokens(), alone_.draft(one, spec_of(50), rule));
}

// A device's step has fewer rows than the prompt.
TEST_F(HeadMethodTest, ReadsALongPromptInSeveralPasses) {
  const std::vector<TokenId> text = text_of(200);
  method_->begin(kKey, spec_of(200));
  tell(kKey, text, 0);
  const uint64_t before = method_->work().passes;
  expect_alike(draft(kKey, {.nodes_max = 4, .depth_max = 1}),
               alone_.draft(text, spec_of(200), {.nodes_max = 4, .depth_max = 1}));
  EXPECT_EQ(method_->work().passes - before, 2U) << "the prompt's, and the tree's";
}

TEST_F(HeadMethodTest, BeginsAKnownSequenceAnew) {
  const StopRule rule{.nodes_max = 4, .depth_max = 2};
  method_->begin(kKey, spec_of(30));
  tell(kKey, text_of(30), 0);
  draft(kKey, rule);
  const std::vector<TokenId> text = text_of(35, 11);
  method_->begin(kKey, spec_of(35));
  tell(kKey, text, 0);
  expect_alike(draft(kKey, rule), alone_.draft(text, spec_of(35), rule));
}

// A target may have a longer context than the head: its long sequences get no drafts, others do.
TEST_F(HeadMethodTest, LeavesASequenceBeyondItsContextOut) {
  const StopRule rule{.nodes_max = 4, .depth_max = 2};
  const auto numbers = static_cast<size_t>(method_->features_read().numbers);
  const std::vector<TokenId> text = text_of(20), longer = text_of(method_->model().config().context_max + 2);
  method_->begin(kOther, spec_of(20));
  method_->advance(kOther, std::span(longer).first(1));
  method_->see(kOther, std::vector<uint16_t>((longer.size() - 1) * numbers));
  method_->advance(kOther, std::span(longer).subspan(1));
  method_->begin(kKey, spec_of(20));
  tell(kKey, text, 0);
  const auto trees = method_->draft(std::vector{DraftAsk{.key = kOther, .rule = rule}, DraftAsk{.key = kKey, .rule = rule}});
  ASSERT_TRUE(trees.has_value()) << trees.error().message;
  EXPECT_TRUE((*trees)[0]->empty());
  expect_alike((*trees)[1]->tokens(), alone_.draft(text, spec_of(20), rule));
}

TEST_F(HeadMethodTest, SamplesTheTreesThatTheWholeHeadWould) {
  GenerationSpec spec = spec_of(20);
  spec.sampling.temperature = 1;
  spec.acceptance.rule = Rule::ratio;
  method_->begin(kKey, spec);
  tell(kKey, text_of(20), 0);
  const StopRule rule{.nodes_max = 4, .depth_max = 4};
  const auto trees = method_->draft(std::vector{DraftAsk{.key = kKey, .rule = rule}});
  ASSERT_TRUE(trees.has_value() && (*trees)[0]);
  const DraftTree expected = alone_.draft_tree(text_of(20), spec, rule);
  ASSERT_EQ((*trees)[0]->size(), 4);
  expect_alike((*trees)[0]->tokens(), expected.tokens());
  EXPECT_TRUE((*trees)[0]->sampled());
}

TEST_F(HeadMethodTest, SaysWhatItReadsAndHasRoomFor) {
  EXPECT_EQ(method_->features_read().head, verifier_.model().head_hash());
  EXPECT_EQ(method_->features_read().numbers, verifier_.model().config().hidden);
  EXPECT_EQ(method_->room()->tokens, 2048);
  EXPECT_EQ(method_->draft_model().name, head_.filename().string());
}

TEST_F(HeadMethodTest, TakesLessMemoryThanItsTarget) {
  EXPECT_FALSE(verifier_.model().has_head()) << "it keeps features, and drafts nothing";
  EXPECT_LT(method_->model().cache_bytes() / 2048, alone_.model().cache_bytes() / (kBlocks * kBlockTokens));
  EXPECT_LT(verifier_.model().cache_bytes(), alone_.model().cache_bytes());
}

TEST(HeadMethod, OfAnotherTargetIsRefused) {
  const Folder folder;
  folder.copy(std::filesystem::path(SLIPSTREAM_TEST_DATA) / "tiny-head");
  folder.replace("config.json", "\"vocab_size\"", "\"slipstream\": {\"target_weights\": \"00000000000000ff\"}, \"vocab_size\"");
  const auto made = HeadMethod::load({.model = kTarget, .head = folder.path(), .device = device()});
  ASSERT_FALSE(made.has_value());
  EXPECT_THAT(made.error().message, HasSubstr("was trained for other weights"));
}

}  // namespace
}  // namespace slipstream
