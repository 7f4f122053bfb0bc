// Drafts with a small language model: any Llama-family folder whose tokens are the target's. Trees
// grow best-first (speculation/tree_growth.h), candidates ranked under the noise that the target
// will use (sampling/rank.h), so that a drafter whose logits are the target's is always right; for
// the ratio family they are sampled from its own distributions (sampled_tree_builder.h), which are
// shipped with them. All sequences of all verifiers are forwarded together, one pass a level.
//
// The method keeps each sequence's tokens, and its K/V in a cache of its own
// (engine/sequence_cache.h): what the target accepted of the last tree is moved into place, not
// computed again. When the cache is full, the sequence drafted longest ago makes room: it is
// computed again when it is asked for. A long prompt is learnt over several jobs, beside the
// others' trees.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "common/drafting/method.h"
#include "common/engine/pass.h"
#include "common/engine/sequence_cache.h"
#include "common/model/language_model.h"
#include "common/speculation/rejection/sampled_tree_builder.h"
#include "common/speculation/tree_growth.h"

namespace slipstream {

inline constexpr int kPrefillRows = 64;  // of sequences with more to learn, in a pass of their own: others' asks come meanwhile
inline constexpr int kPrefillRowsBeside =
    32;  // the same in a pass that drafts for others; with less to learn they draft at once

struct SmallLmOptions {
  std::filesystem::path folder;
  std::string name = {};           // of the model, for people
  std::shared_ptr<Device> device;  // that the model runs on, maybe beside others
  int32_t cache_tokens = 16384;
  int32_t vocabulary = 0;  // of the target: no id from there on is drafted
  int siblings_max = 4;    // candidates a node, at most kSiblingsMax; 1: chains
};

class SmallLm final : public Method {
 public:
  static Result<std::unique_ptr<SmallLm>> load(const SmallLmOptions& options);

  std::string_view name() const override { return "small-lm"; }
  void begin(const DraftKey& key, const GenerationSpec& spec) override;
  void advance(const DraftKey& key, std::span<const TokenId> tokens) override;
  Result<std::vector<Draft>> draft(std::span<const DraftAsk> asks) override;
  void end(const DraftKey& key) override { sequences_.erase(key); }

  MethodWork work() const override;
  DraftModel draft_model() const override { return {name_, model_.weights_hash()}; }
  const LanguageModel& model() const { return model_; }

 private:
  struct Sequence {
    GenerationSpec spec;
    CachedSequence context;
    bool foreign = false;                 // holds a token that the model has no embedding of
    std::vector<TreeRow> forwarded = {};  // of the last tree, whose root was the last token then; void once it is evicted
    uint64_t job = 0;                     // that it last took part in
  };
  // One ask, while its tree grows.
  struct GrowingTree {
    size_t ask = 0;
    Sequence* sequence = nullptr;
    std::variant<TreeGrowth, SampledTreeBuilder> growth;
    CounterRandom random;            // of a sampled one
    std::optional<PassSlice> slice;  // its part of the pass that is laid out
    bool in_pass = false;            // with its frontier, not with its context alone
    bool drafts = false;             // its root has been forwarded

    std::span<const TreeRow> rows() const {
      return std::visit([](const auto& of) { return of.rows(); }, growth);
    }
    std::span<const TreeRow> frontier() const {
      return std::visit([](const auto& of) { return of.frontier(); }, growth);
    }
  };

  SmallLm(LanguageModel model, const SmallLmOptions& options);
  CachedSequence* longest_idle();  // of the sequences that are not in this job; null: none of them holds blocks
  std::optional<GrowingTree> begin_tree(const DraftAsk& ask);
  Result<void> learn(std::vector<GrowingTree>& trees);
  Result<void> grow(std::vector<GrowingTree>& trees);
  void add_frontier(GrowingTree& tree, int32_t context_rows);
  Result<void> run(std::vector<GrowingTree>& trees);
  void rank_children(TreeGrowth& growth, size_t first_wanted);
  void sample_children(GrowingTree& tree);

  LanguageModel model_;
  std::string name_;
  int32_t vocabulary_, siblings_max_;
  SequenceCache cache_;
  std::map<DraftKey, Sequence> sequences_;
  StepPlan plan_;
  Pass pass_{plan_};
  ChainScratch chain_;
  std::vector<float> processed_;  // one row
  uint64_t job_ = 0;
  MethodWork work_;
};

}  // namespace slipstream
