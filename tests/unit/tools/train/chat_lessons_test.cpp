// A model learns what a target says in collected chats.
#include "tools/train/chat_lessons.h"

#include <cmath>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include "tests/unit/tools/train/tiny_head.h"
#include "tools/train/epoch_order.h"
#include "tools/train/training.h"

namespace slipstream::train {
namespace {

class ChatLessonsTest : public testing::Test, public TinyHead {
 protected:
  ChatLessonsTest() {
    whole_ = {.target = tiny_config(), .taps = config_.taps, .vocabulary = {}};
    for (TokenId token = 0; token < whole_.target.vocabulary; ++token) whole_.vocabulary.push_back(token);
    whole_target_ = HeadTarget::load(tiny_target(), whole_).value();
  }
  std::unique_ptr<ChatLessons> lessons(Divergence divergence, const LessonSizes& sizes) const {
    return std::make_unique<ChatLessons>(whole_, HeadData::open(folder_.path(), kTokenizer, 20).value(), whole_target_,
                                         divergence, sizes, 1, at::kFloat);
  }
  // Of the target itself.
  Weights own_weights() const {
    const Checkpoint checkpoint = Checkpoint::open(tiny_target()).value();
    return Weights::load(checkpoint, llama_tensors(whole_.target)).value();
  }
  LlamaModule module(const Weights& weights) const { return LlamaModule(whole_.target, weights, 64, at::kFloat); }

  HeadConfig whole_;  // of a head that drafts every token
  HeadTarget whole_target_;
};

TEST_F(ChatLessonsTest, TheTargetItselfHasNothingToLearn) {
  const Weights weights = own_weights();
  for (const Divergence kind : {Divergence::forward_kl, Divergence::reverse_kl, Divergence::total_variation}) {
    const auto target = lessons(kind, {.batch = 4, .micro_batch = 2});
    EXPECT_NEAR(target->learn(module(weights), 0).value().item<double>(), 0, 2e-3) << divergence_name(kind);
    const HeldOutLoss held_out = *target->held_out(module(weights)).value();
    ASSERT_GT(held_out.agreement.rows, 100);
    EXPECT_NEAR(held_out.agreement.sampled / static_cast<double>(held_out.agreement.rows), 1, 0.01);
    EXPECT_GT(held_out.agreement.greedily / static_cast<double>(held_out.agreement.rows), 0.98);
  }
}

// Tokens of prompts, and what fills shorter chats up, teach nothing.
TEST_F(ChatLessonsTest, TheLossIsThatOfTheRowsOfAnswersOneChatAfterTheOther) {
  const Weights weights = Weights::random(llama_tensors(whole_.target), whole_.target.layers, 7);
  const LlamaModule model = module(weights);
  const double together =
      lessons(Divergence::forward_kl, {.batch = 4, .micro_batch = 4})->learn(model, 3).value().item<double>();
  EXPECT_NEAR(lessons(Divergence::forward_kl, {.batch = 4, .micro_batch = 1})->learn(model, 3).value().item<double>(), together,
              1e-5 * together);
  const at::NoGradGuard no_gradients;
  const LlamaModule target = module(own_weights());
  double sum = 0;
  int64_t rows = 0;
  const HeadData data = HeadData::open(folder_.path(), kTokenizer, 20).value();
  const auto order = epoch_order(data.train().size(), 0, 1);
  for (size_t n = 12; n < 16; ++n) {  // of step 3
    const FeatureDocument& chat = data.train()[order[n]];
    const at::Tensor tokens = at::empty({1, static_cast<int64_t>(chat.tokens.size())}, at::kLong);
    std::ranges::copy(chat.tokens, tokens.mutable_data_ptr<int64_t>());
    const int64_t first = chat.answer - 1, last = tokens.size(1) - 1;  // the last token predicts nothing of the chat
    const auto of = [&](const LlamaModule& each) { return each.logits(each.hidden(tokens)[0].narrow(0, first, last - first)); };
    sum += divergence(Divergence::forward_kl, of(target), of(model)).sum().item<double>();
    rows += last - first;
  }
  EXPECT_NEAR(together, sum / static_cast<double>(rows), 5e-3 * together) << "features are bf16";
}

TEST_F(ChatLessonsTest, AModelLearnsFromThemByEachDivergence) {
  for (const Divergence kind : {Divergence::forward_kl, Divergence::reverse_kl, Divergence::total_variation}) {
    Training learns(whole_.target, Weights::random(llama_tensors(whole_.target), whole_.target.layers, 7),
                    lessons(kind, {.batch = 8, .micro_batch = 8}), {.steps = 120, .learning_rate = 0.01, .warmup_steps = 10});
    const HeldOutLoss before = *learns.held_out().value();
    while (learns.steps_done() < 120) ASSERT_TRUE(learns.step());
    const HeldOutLoss after = *learns.held_out().value();
    EXPECT_LT(after.loss, 0.8 * before.loss) << divergence_name(kind);
    EXPECT_GT(after.agreement.greedily, before.agreement.greedily);
  }
}

}  // namespace
}  // namespace slipstream::train
