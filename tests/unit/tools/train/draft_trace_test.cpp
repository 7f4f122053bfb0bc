// Draft traces: what is written is read, what is damaged is refused, and what a tracer writes is
// what the served drafter drafts.
#include "tools/train/draft_trace.h"

#include <gmock/gmock.h>

#include "common/drafting/head_trees.h"
#include "common/engine/sequence_cache.h"
#include "tests/unit/common/model/extra_head.h"
#include "tests/unit/common/model/rows.h"
#include "tests/unit/tools/train/tiny_features.h"
#include "tools/train/draft_tracer.h"

namespace slipstream::train {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;

const std::vector<TracedChat> kChats{{.drafts = {{.nodes = {{0.5F, 1.5F, 1}, {0.25F, 3, 0}}, .states = {1, 2, 3, 4}},
                                                 {.nodes = {{0.75F, 0, 1}}, .states = {5, 6}}}},
                                     {.drafts = {{.nodes = {}, .states = {}}, {.nodes = {{1.0F, 0, 0}}, .states = {7, 8}}}}};
const TraceOrigin kOrigin{.target = 1, .drafter = 2, .hidden = 2, .depth = 2, .temperature = 1, .seed = 3};

TEST(DraftTrace, HasWhatWasWritten) {
  const TestFolder folder;
  ASSERT_TRUE(write_draft_trace(folder / "trace", kOrigin, kChats).has_value());
  const DraftTrace trace = DraftTrace::open(folder / "trace").value();
  EXPECT_EQ(trace.origin(), kOrigin);
  ASSERT_EQ(trace.chats(), 2U);
  for (size_t chat = 0; chat < 2; ++chat) {
    ASSERT_EQ(trace.drafts(chat), 2U);
    for (size_t at = 0; at < 2; ++at) {
      const TracedDraft& written = kChats[chat].drafts[at];
      ASSERT_EQ(trace.draft(chat, at).nodes.size(), written.nodes.size());
      for (size_t node = 0; node < written.nodes.size(); ++node) {
        EXPECT_EQ(trace.draft(chat, at).nodes[node].confidence, written.nodes[node].confidence);
        EXPECT_EQ(trace.draft(chat, at).nodes[node].entropy, written.nodes[node].entropy);
        EXPECT_EQ(trace.draft(chat, at).nodes[node].matched, written.nodes[node].matched);
      }
      EXPECT_THAT(trace.draft(chat, at).states, ElementsAreArray(written.states));
    }
  }
}

TEST(DraftTrace, IsRefusedIfItWasCutOrChanged) {
  const TestFolder folder;
  ASSERT_TRUE(write_draft_trace(folder / "trace", kOrigin, kChats).has_value());
  const std::string whole = folder.read("trace");
  folder.write("trace", whole.substr(0, whole.size() - 1));
  EXPECT_THAT(DraftTrace::open(folder / "trace").error().message, HasSubstr("trace"));
  std::string changed = whole;
  changed.back() = static_cast<char>(changed.back() ^ 1);
  folder.write("trace", changed);
  EXPECT_FALSE(DraftTrace::open(folder / "trace").has_value());
  folder.write("trace", "SLIPFEAT" + whole.substr(8));
  EXPECT_THAT(DraftTrace::open(folder / "trace").error().message, HasSubstr("slipstream-train trace"));
}

// Drafts of the served head behind a sequence that is computed from its beginning: chains of as
// many tokens as the answer goes on.
class ServedDrafts {
 public:
  ServedDrafts(const std::filesystem::path& head, float temperature)
      : temperature_(temperature),
        model_(LanguageModel::load(test_data("tiny-llama"), make_cpu_device({.threads = 1}).value(),
                                   {.cache_blocks = kBlocks, .head = head, .head_ranked = 1, .head_traced = true})
                   .value()) {
    plan_.blocks_max = kBlocks;
  }

  std::vector<TokenId> answer(std::vector<TokenId> tokens, uint64_t seed, int count) {
    const auto prompt = static_cast<int32_t>(tokens.size());
    for (int i = 0; i < count; ++i) tokens.push_back(next(tokens, prompt, seed));
    return {tokens.begin() + prompt, tokens.end()};
  }
  TokenTree chain(const std::vector<TokenId>& tokens, int32_t prompt, uint64_t seed, int length) {
    CachedSequence sequence = computed(tokens, prompt);
    ContextWords words;
    words.read(tokens, *model_.draft_vocabulary());
    std::vector<HeadAsk> asks{{.base = take_base(sequence),
                               .rule = {.nodes_max = length, .depth_max = length},
                               .seed = seed,
                               .sampling = {.temperature = temperature_},
                               .words = {words.latest().begin(), words.latest().end()}}};
    return draft_by_head(model_, asks, extra_, plan_).value().trees.front().tokens();
  }

  // Of the last token that chain() read: all of them but the last are.
  std::vector<uint16_t> last_state() const {
    std::vector<uint16_t> state;
    std::ranges::transform(model_.drafted_states(), std::back_inserter(state), to_bf16);
    return state;
  }

 private:
  static constexpr int32_t kBlocks = 8;

  CachedSequence computed(const std::vector<TokenId>& tokens, int32_t prompt) {
    CachedSequence sequence(cache_.pool(), prompt);
    sequence.append(tokens);
    EXPECT_TRUE(cache_.reserve(sequence, sequence.size() + kTreeNodesMax, MayEvict::prefixes));
    if (sequence.prefill_rows() == 0) return sequence;
    plan_.clear();
    Pass pass(plan_);
    const PassSlice slice = pass.add_context(sequence, sequence.prefill_rows());
    EXPECT_TRUE(model_.run(plan_.view()).has_value());
    sequence.computed(slice.context_rows);
    return sequence;
  }
  TokenId next(const std::vector<TokenId>& tokens, int32_t prompt, uint64_t seed) {
    CachedSequence sequence = computed(tokens, prompt);
    plan_.clear();
    Pass pass(plan_);
    const std::vector<TreeRow> root(1);
    pass.add_tree(sequence, 0, {.rows = root, .seed = seed, .params = {.temperature = temperature_}});
    return model_.run(plan_.view()).value()[0];
  }

  float temperature_;
  LanguageModel model_;
  SequenceCache cache_{kBlocks, [](const CachedSequence&) { return nullptr; }};
  ExtraTokens extra_{model_};
  StepPlan plan_;
};

TEST(DraftTracer, TracesWhatTheServedHeadDrafts) {
  const Folder folder;
  const std::filesystem::path head = extra_head(folder);
  for (const float temperature : {0.0F, 1.0F}) {
    const TraceSettings settings{.answers = {.answer_tokens = 12, .temperature = temperature, .seed = 40}, .depth = 3};
    const std::vector<ChatDocument> chats = random_chats(3);
    DraftTracer tracer = DraftTracer::load(test_data("tiny-llama"), {.head = head}, {}, settings, 64, 3).value();
    const std::vector<TracedChat> traced = tracer.trace(chats, 5).value();
    ASSERT_EQ(traced.size(), 3U);
    ServedDrafts served(head, temperature);
    for (size_t i = 0; i < chats.size(); ++i) {
      const uint64_t seed = 40 + 5 + i;
      std::vector<TokenId> tokens(chats[i].tokens.begin(), chats[i].tokens.begin() + chats[i].answer);
      const auto prompt = static_cast<int32_t>(tokens.size());
      const std::vector<TokenId> answer = served.answer(tokens, seed, static_cast<int>(traced[i].drafts.size()));
      for (size_t from = 0; from < answer.size(); ++from) {
        const TracedDraft& draft = traced[i].drafts[from];
        ASSERT_EQ(draft.nodes.size(), std::min<size_t>(3, answer.size() - from));
        EXPECT_EQ(draft.states.size(), draft.nodes.size() * 32);
        const TokenTree chain = served.chain(tokens, prompt, seed, static_cast<int>(draft.nodes.size()));
        float reached = 1;
        for (size_t node = 0; node < draft.nodes.size(); ++node) {
          const TreeNode& expected = chain.nodes()[node];
          EXPECT_FLOAT_EQ(reached *= draft.nodes[node].confidence, expected.survival);
          EXPECT_EQ(draft.nodes[node].matched == 1, expected.token == answer[from + node]) << from;
        }
        if (const size_t read = draft.nodes.size() - 1; read > 0) {
          const auto state = std::span(draft.states).subspan((read - 1) * 32, 32);
          EXPECT_THAT(served.last_state(), ElementsAreArray(state.begin(), state.end())) << from;
        }
        tokens.push_back(answer[from]);
      }
    }
  }
}

// The state behind the last of these tokens, computed in one pass.
std::vector<uint16_t> state_behind(LanguageModel& model, const std::vector<TokenId>& tokens) {
  BlockPool pool(8);
  BlockTable table(pool);
  EXPECT_TRUE(table.reserve(static_cast<int32_t>(tokens.size())));
  Rows rows(8);
  rows.prompt(rows.sequence_of(table), table, tokens, 0);
  EXPECT_TRUE(model.run(rows.view()).has_value());
  std::vector<uint16_t> state;
  std::ranges::transform(model.states().last(static_cast<size_t>(model.config().hidden)), std::back_inserter(state), to_bf16);
  return state;
}

// A small model of the target's own weights drafts what the target chooses, under the same noise,
// and its states are those behind the answer itself.
TEST(DraftTracer, TracesASmallModelThatReadsTheAnswerItself) {
  const std::filesystem::path small = test_data("tiny-llama");
  const std::vector<ChatDocument> chats = random_chats(3);
  for (const float temperature : {0.0F, 1.0F}) {
    const TraceSettings settings{.answers = {.answer_tokens = 12, .temperature = temperature, .seed = 40}, .depth = 3};
    DraftTracer tracer = DraftTracer::load(small, {.small_model = small}, {}, settings, 64, 3).value();
    EXPECT_EQ(tracer.drafter().hidden(), 32);
    const std::vector<TracedChat> traced = tracer.trace(chats, 5).value();
    LanguageModel alone = load_alone(small, {.threads = 1}, {.cache_blocks = 8, .ranked = 1, .traced = true}).value();
    LanguageModel target = load_alone(small, {.threads = 1}, {.cache_blocks = 8}).value();
    for (size_t i = 0; i < chats.size(); ++i) {
      const std::vector<ChatDocument> one{chats[i]};
      const AnswerSettings same{.answer_tokens = 12, .temperature = temperature, .seed = 40 + 5 + i};
      const ChatDocument answered = answer_all(target, one, same, 1, [] { return true; }).value().front();
      const size_t answer = answered.tokens.size() - static_cast<size_t>(answered.answer);
      ASSERT_EQ(traced[i].drafts.size(), answer);
      for (size_t from = 0; from < answer; ++from) {
        const TracedDraft& draft = traced[i].drafts[from];
        ASSERT_EQ(draft.nodes.size(), std::min<size_t>(3, answer - from));
        for (size_t node = 0; node < draft.nodes.size(); ++node) {
          EXPECT_EQ(draft.nodes[node].matched, 1) << from << ", " << node;
          const auto end = answered.tokens.begin() + answered.answer + static_cast<int64_t>(from + node) + 1;
          const auto state = std::span(draft.states).subspan(node * 32, 32);
          EXPECT_THAT(state_behind(alone, {answered.tokens.begin(), end}), ElementsAreArray(state.begin(), state.end()))
              << from;
        }
      }
    }
  }
}

TEST(DraftTracer, RefusesASmallModelOfAnotherTokenizer) {
  const Folder folder;
  folder.copy(test_data("tiny-llama"));
  folder.replace("tokenizer.json", "<|turn|>", "<|other|>");
  LlamaConfig config = read_llama_config(test_data("tiny-llama")).value();
  const DrafterPath same{.small_model = test_data("tiny-llama")}, other{.small_model = folder.path()};
  EXPECT_TRUE(same.narrow(config, test_data("tiny-llama")).has_value());
  const auto refused = other.narrow(config, test_data("tiny-llama"));
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message, HasSubstr("another tokenizer"));
}

}  // namespace
}  // namespace slipstream::train
