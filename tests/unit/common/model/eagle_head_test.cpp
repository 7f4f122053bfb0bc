// A draft head: what it guesses is what its paper's formulas give, and the same whatever way the
// target computed the sequence.
#include <cmath>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/checkpoint/checkpoint.h"
#include "common/checkpoint/dequantise.h"
#include "common/checkpoint/head_config.h"
#include "tests/unit/common/checkpoint/folder.h"
#include "tests/unit/common/model/models.h"
#include "tests/unit/common/model/rows.h"

namespace slipstream {
namespace {

using testing::HasSubstr;

constexpr int32_t kBlocks = 12, kBlocksOfSequence = 4;
constexpr int kCandidates = 8;

LanguageModel load_headed() {
  return load_alone(test_data("tiny-llama"),
                    {.path = CpuPath::portable, .weights = WeightFormat::bf16, .guesses = WeightFormat::bf16},
                    {.cache_blocks = kBlocks, .head = test_data("tiny-head"), .head_ranked = kCandidates})
      .value();
}

std::vector<TokenId> text_of(int32_t tokens) {
  std::vector<TokenId> text;
  for (int32_t i = 0; i < tokens; ++i) text.push_back(4 + (i * 7 + i * i % 5) % 60);
  return text;
}

// One sequence of a model with a head, computed in steps as a verifier would.
class Sequence {
 public:
  explicit Sequence(LanguageModel& model, BlockPool& pool) : model_(model), blocks_(pool) {
    EXPECT_TRUE(blocks_.reserve(kBlocksOfSequence * kBlockTokens));
  }
  BlockTable& blocks() { return blocks_; }
  void adopted(int32_t positions) { computed_ = positions; }

  void prompt(std::span<const TokenId> tokens) {
    Rows rows = step();
    rows.prompt(rows.sequence_of(blocks_), blocks_, tokens, computed_);
    run(rows);
    computed_ += static_cast<int32_t>(tokens.size());
  }
  // The root and the nodes of a tree, of which these rows become context.
  void tree(TokenId root, std::span<const TreeNode> nodes, std::span<const int32_t> path) {
    Rows rows = step();
    rows.tree(rows.sequence_of(blocks_), blocks_, computed_, root, nodes);
    run(rows);
    blocks_.commit(computed_, path, moves_);
    computed_ += 1 + static_cast<int32_t>(path.size());
  }
  // What the head guesses after each row of a tree behind the last token, level by level as a
  // drafter forwards it.
  std::vector<std::vector<Ranked>> guesses(TokenId root, std::span<const TreeNode> nodes = {}) {
    Rows all(kBlocksOfSequence);
    all.tree(all.sequence_of(blocks_), blocks_, computed_, root, nodes);
    std::vector<std::vector<Ranked>> found(nodes.size() + 1);
    for (int32_t depth = 0; depth <= static_cast<int32_t>(nodes.size()); ++depth) {
      Rows level = step();
      level.sequence_of(blocks_);
      std::vector<size_t> rows;
      for (size_t row = 0; row < all.token.size(); ++row) {
        if (all.position[row] != computed_ + depth) continue;
        rows.push_back(row);
        level.add({.token = all.token[row],
                   .position = all.position[row],
                   .slot = all.slot[row],
                   .parent_slot = all.parent_slot[row],
                   .visible = all.visible[row],
                   .ancestors = all.ancestors[row]});
        level.want({.params = {.temperature = 0}});
      }
      if (rows.empty()) break;
      const auto drafted = model_.draft(level.view());
      EXPECT_TRUE(drafted.has_value()) << drafted.error().message;
      for (size_t i = 0; i < rows.size(); ++i) {
        found[rows[i]].assign(model_.drafted(i).begin(), model_.drafted(i).end());
      }
    }
    return found;
  }

 private:
  Rows step() {
    Rows rows(kBlocksOfSequence);
    rows.moves = std::exchange(moves_, {});
    return rows;
  }
  void run(Rows& rows) {
    const auto ran = model_.run(rows.view());
    EXPECT_TRUE(ran.has_value()) << ran.error().message;
  }

  LanguageModel& model_;
  BlockTable blocks_;
  int32_t computed_ = 0;
  std::vector<KvMove> moves_;
};

// The formulas of eagle_head.h over one text, in double.
class Reference {
 public:
  Reference() : head_(read_head_config(test_data("tiny-head")).value()), config_(head_.layer) {
    const Checkpoint target = Checkpoint::open(test_data("tiny-llama")).value();
    read(target, "model.embed_tokens.weight", config_.vocabulary, config_.hidden);
    const Checkpoint own = Checkpoint::open(test_data("tiny-head")).value();
    const int32_t h = config_.hidden, q = config_.heads * config_.head_size, kv = config_.kv_heads * config_.head_size;
    const auto columns = static_cast<int32_t>(head_.tokens.size());
    read(own, "fc.weight", h, static_cast<int32_t>(head_.taps.size()) * h);
    for (const char* name : {"midlayer.input_layernorm.weight", "midlayer.hidden_norm.weight",
                             "midlayer.post_attention_layernorm.weight", "norm.weight"}) {
      read(own, name, 1, h);
    }
    read(own, "midlayer.self_attn.q_proj.weight", q, 2 * h);
    read(own, "midlayer.self_attn.k_proj.weight", kv, 2 * h);
    read(own, "midlayer.self_attn.v_proj.weight", kv, 2 * h);
    read(own, "midlayer.self_attn.o_proj.weight", h, q);
    read(own, "midlayer.mlp.gate_proj.weight", config_.intermediate, h);
    read(own, "midlayer.mlp.up_proj.weight", config_.intermediate, h);
    read(own, "midlayer.mlp.down_proj.weight", h, config_.intermediate);
    read(own, "lm_head.weight", columns, h);
    read_features();
  }

  // [depth + 1] what is guessed after text[0, length + depth): the first row reads the target's
  // feature, each further one the row before it.
  std::vector<std::map<TokenId, double>> guesses(std::span<const TokenId> text, size_t length) {
    features_of(text.first(length - 1));
    keys_.clear();
    values_.clear();
    for (size_t i = 0; i + 1 < length; ++i) row(text[i], i, i == 0 ? Row(config_.hidden, 0.0) : fused_[i - 1]);
    std::vector<std::map<TokenId, double>> found;
    Row feature = fused_[length - 2];
    for (size_t i = length - 1; i < text.size(); ++i) {
      feature = row(text[i], i, feature);
      found.push_back(distribution(feature));
    }
    return found;
  }

 private:
  using Row = std::vector<double>;

  void read(const Checkpoint& from, const std::string& name, int32_t rows, int32_t cols) {
    const HostMatrix matrix = from.matrix(name, rows, cols).value();
    std::vector<float> row(static_cast<size_t>(cols));
    for (int32_t i = 0; i < rows; ++i) {
      read_row(matrix, i, row);
      weights_[name].emplace_back(row.begin(), row.end());
    }
  }
  // [positions, taps * hidden] the inputs of the tapped layers, from the model that has no head.
  void read_features() {
    tapped_.emplace(load_alone(test_data("tiny-llama"), {.path = CpuPath::portable, .weights = WeightFormat::bf16},
                               {.cache_blocks = kBlocks, .taps = head_.taps})
                        .value());
  }
  void features_of(std::span<const TokenId> text) {
    BlockPool pool(kBlocks);
    BlockTable blocks(pool);
    EXPECT_TRUE(blocks.reserve(static_cast<int32_t>(text.size())));
    Rows rows(kBlocksOfSequence);
    rows.prompt(rows.sequence_of(blocks), blocks, text, 0);
    EXPECT_TRUE(tapped_->run(rows.view()).has_value());
    fused_.clear();
    const size_t cols = tapped_->features().size() / text.size();
    for (size_t i = 0; i < text.size(); ++i) {
      const auto taps = tapped_->features().subspan(i * cols, cols);
      fused_.push_back(times("fc.weight", Row(taps.begin(), taps.end())));
    }
  }
  Row times(const std::string& name, const Row& in) const {
    Row out;
    for (const Row& weights : weights_.at(name)) {
      double sum = 0;
      for (size_t i = 0; i < in.size(); ++i) sum += weights[i] * in[i];
      out.push_back(sum);
    }
    return out;
  }
  Row norm(const std::string& gain, Row row) const {
    double squares = 0;
    for (const double each : row) squares += each * each;
    const double scale = 1 / std::sqrt(squares / static_cast<double>(row.size()) + config_.rms_eps);
    for (size_t i = 0; i < row.size(); ++i) row[i] *= scale * weights_.at(gain)[0][i];
    return row;
  }
  Row rotated(Row heads, size_t position) const {
    const auto size = static_cast<size_t>(config_.head_size), half = size / 2;
    for (size_t head = 0; head < heads.size() / size; ++head) {
      for (size_t i = 0; i < half; ++i) {
        const double exponent = -2.0 * static_cast<double>(i) / config_.head_size;
        const double angle = static_cast<double>(position) * std::pow(double{config_.rope_theta}, exponent);
        double &a = heads[head * size + i], &b = heads[head * size + half + i];
        std::tie(a, b) = std::pair(a * std::cos(angle) - b * std::sin(angle), b * std::cos(angle) + a * std::sin(angle));
      }
    }
    return heads;
  }
  // The layer's output for a token at a position.
  Row row(TokenId token, size_t position, const Row& feature) {
    Row input = norm("midlayer.input_layernorm.weight", weights_.at("model.embed_tokens.weight")[static_cast<size_t>(token)]);
    const Row normed = norm("midlayer.hidden_norm.weight", feature);
    input.insert(input.end(), normed.begin(), normed.end());
    const Row query = rotated(times("midlayer.self_attn.q_proj.weight", input), position);
    keys_.push_back(rotated(times("midlayer.self_attn.k_proj.weight", input), position));
    values_.push_back(times("midlayer.self_attn.v_proj.weight", input));
    Row out = feature;
    add(out, times("midlayer.self_attn.o_proj.weight", attention(query)));
    const Row mlp = norm("midlayer.post_attention_layernorm.weight", out);
    Row gated = times("midlayer.mlp.up_proj.weight", mlp);
    const Row gate = times("midlayer.mlp.gate_proj.weight", mlp);
    for (size_t i = 0; i < gated.size(); ++i) gated[i] *= gate[i] / (1 + std::exp(-gate[i]));
    add(out, times("midlayer.mlp.down_proj.weight", gated));
    return out;
  }
  Row attention(const Row& query) const {
    const auto size = static_cast<size_t>(config_.head_size), group = static_cast<size_t>(config_.heads / config_.kv_heads);
    Row out(query.size());
    for (size_t head = 0; head < query.size() / size; ++head) {
      const size_t kv = head / group * size;
      Row weights;
      double sum = 0;
      for (const Row& key : keys_) {
        double product = 0;
        for (size_t i = 0; i < size; ++i) product += query[head * size + i] * key[kv + i];
        weights.push_back(std::exp(product / std::sqrt(static_cast<double>(size))));
        sum += weights.back();
      }
      for (size_t at = 0; at < weights.size(); ++at) {
        for (size_t i = 0; i < size; ++i) out[head * size + i] += weights[at] / sum * values_[at][kv + i];
      }
    }
    return out;
  }
  std::map<TokenId, double> distribution(const Row& feature) const {
    const Row logits = times("lm_head.weight", norm("norm.weight", feature));
    double sum = 0;
    for (const double logit : logits) sum += std::exp(logit);
    std::map<TokenId, double> found;
    for (size_t column = 0; column < logits.size(); ++column) found[head_.tokens[column]] = std::exp(logits[column]) / sum;
    return found;
  }
  static void add(Row& to, const Row& more) {
    for (size_t i = 0; i < to.size(); ++i) to[i] += more[i];
  }

  HeadConfig head_;
  LlamaConfig config_;
  std::map<std::string, std::vector<Row>> weights_;
  std::optional<LanguageModel> tapped_;
  std::vector<Row> fused_, keys_, values_;
};

// The product rounds rows to bf16 on the way, and confidences come from f32.
void expect_near(const std::vector<Ranked>& guesses, const std::map<TokenId, double>& reference, const char* where) {
  ASSERT_EQ(guesses.size(), static_cast<size_t>(kCandidates)) << where;
  double likeliest = 0;
  for (const auto& [token, chance] : reference) likeliest = std::max(likeliest, chance);
  EXPECT_NEAR(guesses.front().confidence, likeliest, 0.01) << where;
  for (const Ranked& guess : guesses) {
    ASSERT_TRUE(reference.contains(guess.token)) << where << ": token " << guess.token << " has no column of the head";
    EXPECT_NEAR(guess.confidence, reference.at(guess.token), 0.01) << where << ", token " << guess.token;
  }
}

TEST(EagleHead, GuessesWhatItsFormulasGive) {
  LanguageModel model = load_headed();
  BlockPool pool(kBlocks);
  Reference reference;
  const std::vector<TokenId> text = text_of(40);
  for (const size_t length : {size_t{2}, size_t{9}, size_t{37}}) {
    Sequence sequence(model, pool);
    sequence.prompt(std::span(text).first(length - 1));
    const std::vector<TreeNode> chain{{text[length], kRoot, 1}, {text[length + 1], 0, 1}, {text[length + 2], 1, 1}};
    const auto guesses = sequence.guesses(text[length - 1], chain);
    const auto expected = reference.guesses(std::span(text).first(length + 3), length);
    for (size_t depth = 0; depth < guesses.size(); ++depth) {
      expect_near(guesses[depth], expected[depth], fmt::format("behind {} tokens and {} guesses", length, depth).c_str());
    }
  }
}

// The ways in which a verifier may come to the same sequence. Each must leave the same keys, values
// and features in the cache.
class SameGuesses : public testing::Test {
 protected:
  SameGuesses() {
    Sequence whole(model_, pool_);
    whole.prompt(std::span(text_).first(60));
    expected_ = whole.guesses(text_[60], nodes_);
  }
  void expect_same(Sequence& sequence) { EXPECT_EQ(sequence.guesses(text_[60], nodes_), expected_); }
  std::span<const TokenId> part(size_t begin, size_t end) const { return std::span(text_).subspan(begin, end - begin); }

  LanguageModel model_ = load_headed();
  BlockPool pool_{kBlocks};
  const std::vector<TokenId> text_ = text_of(64);
  const std::vector<TreeNode> nodes_{{5, kRoot, 1}, {9, kRoot, 1}, {6, 0, 1}, {7, 1, 1}, {8, 2, 1}};
  std::vector<std::vector<Ranked>> expected_;
};

TEST_F(SameGuesses, AfterAPromptInChunks) {
  Sequence sequence(model_, pool_);
  for (const auto& [begin, end] : {std::pair(0, 1), std::pair(1, 32), std::pair(32, 33), std::pair(33, 60)}) {
    sequence.prompt(part(static_cast<size_t>(begin), static_cast<size_t>(end)));
  }
  expect_same(sequence);
}

// Rejected siblings lie between the accepted rows, which move down.
TEST_F(SameGuesses, AfterTreesWhoseAcceptedRowsMove) {
  Sequence sequence(model_, pool_);
  sequence.prompt(part(0, 50));
  const std::vector<TreeNode> nodes{{1, kRoot, 1}, {text_[51], kRoot, 1}, {2, 0, 1}, {text_[52], 1, 1}, {3, 3, 1}};
  sequence.tree(text_[50], nodes, std::vector<int32_t>{2, 4});
  for (size_t at = 53; at < 60; ++at) sequence.tree(text_[at], {}, {});
  expect_same(sequence);
}

// Between two steps of the target the head has drafted, and has overwritten the rows behind it.
TEST_F(SameGuesses, AfterDraftsThatWereRejected) {
  Sequence sequence(model_, pool_);
  sequence.prompt(part(0, 50));
  for (size_t at = 50; at < 60; ++at) {
    sequence.guesses(text_[at], nodes_);
    const std::vector<TreeNode> wrong{{1, kRoot, 1}, {2, 0, 1}};
    sequence.tree(text_[at], wrong, {});
  }
  expect_same(sequence);
}

// The draft itself does the moves of the step before it.
TEST_F(SameGuesses, WhereTheDraftDoesTheMoves) {
  Sequence sequence(model_, pool_);
  sequence.prompt(part(0, 57));
  const std::vector<TreeNode> nodes{{1, kRoot, 1}, {text_[58], kRoot, 1}, {2, 0, 1}, {text_[59], 1, 1}};
  sequence.tree(text_[57], nodes, std::vector<int32_t>{2, 4});
  expect_same(sequence);
}

// A prefix hit: another sequence has computed the first blocks.
TEST_F(SameGuesses, BehindBlocksOfAnotherSequence) {
  Sequence first(model_, pool_);
  first.prompt(part(0, 50));
  Sequence second(model_, pool_);
  pool_.hold(first.blocks().blocks()[0]);
  second.blocks().replace(0, first.blocks().blocks()[0]);
  second.adopted(kBlockTokens);
  second.prompt(part(kBlockTokens, 60));
  expect_same(second);
}

std::string refusal(const std::string& from, const std::string& to) {
  const Folder folder;
  folder.copy(test_data("tiny-head"));
  folder.replace("config.json", from, to);
  const auto loaded = load_alone(test_data("tiny-llama"), {}, {.cache_blocks = 4, .head = folder.path()});
  return loaded ? "loaded" : loaded.error().message;
}

TEST(EagleHead, IsRefusedWithTheReason) {
  EXPECT_EQ(refusal("0.0", "0.0"), "loaded");
  EXPECT_THAT(refusal("LlamaForCausalLMEagle3", "LlamaForCausalLM"), HasSubstr("is no draft head"));
  EXPECT_THAT(refusal("\"vocab_size\": 64", "\"vocab_size\": 65"), HasSubstr("is for a model of 32 numbers a token and 65"));
  EXPECT_THAT(refusal("\"draft_vocab_size\": 40", "\"draft_vocab_size\": 39"), HasSubstr("d2t must be [39]"));
  EXPECT_THAT(refusal("\"num_hidden_layers\": 1", "\"num_hidden_layers\": 2"), HasSubstr("a head of 2 layers"));
  EXPECT_THAT(refusal("\"vocab_size\"", "\"slipstream\": {\"target_weights\": \"1f\"}, \"vocab_size\""),
              HasSubstr("trained for other weights (000000000000001f"));
  EXPECT_THAT(refusal("\"vocab_size\"", "\"slipstream\": {\"target_weights\": \"xyz\"}, \"vocab_size\""),
              HasSubstr("no hexadecimal number"));
  EXPECT_THAT(refusal("\"vocab_size\"", "\"slipstream\": {\"target_output\": 3}, \"vocab_size\""), HasSubstr("target_output"));
  EXPECT_THAT(refusal("layer_ids\": [\n      0", "layer_ids\": [\n      3"), HasSubstr("in ascending order"));
  EXPECT_THAT(refusal("\"hidden_size\": 32", "\"hidden_size\": 30"), HasSubstr("is for a model of 30 numbers"));
}

}  // namespace
}  // namespace slipstream
