// Drafts with a small language model: any Llama-family folder whose tokens are the target's. Trees grow best-first
// (speculation/tree_growth.h), candidates ranked under the noise that the target will use (sampling/rank.h), so that a drafter
// whose logits are the target's is always right; for the ratio family they are drawn from its own laws (drawn_growth.h), which
// are shipped with them. All sequences of all verifiers are forwarded together, one pass a level.
//
// The method keeps each sequence's tokens, and its K/V in a cache of its own: what the target accepted of the last tree is
// moved into place, not computed again, and whole blocks outlive their sequence for others that begin alike
// (kv/prefix_cache.h). When the cache is full, kept blocks that nobody uses make room, then the sequence drafted longest ago:
// it is computed anew when it is asked for. A long prompt is learnt over several jobs, beside the others' trees.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "common/drafting/method.h"
#include "common/kv/block_table.h"
#include "common/kv/prefix_cache.h"
#include "common/model/language_model.h"
#include "common/model/step_plan.h"
#include "common/speculation/drawn_growth.h"
#include "common/speculation/tree_growth.h"

namespace slipstream {

inline constexpr int kLearnRows = 64;  // of sequences with more to learn, in a pass of their own: others' asks come meanwhile
inline constexpr int kLearnRowsBeside = 32;  // the same in a pass that drafts for others; with less to learn they draft at once

struct SmallLmOptions {
  std::filesystem::path folder;
  std::string name = {};  // of the model, for people
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

  MethodWork work() const override { return work_; }
  DraftModel draft_model() const override { return {name_, model_.weights_hash()}; }
  const LanguageModel& model() const { return model_; }

 private:
  // K/V of positions [0, cached) is in the cache, once `moves` are done.
  struct Sequence {
    Sequence(BlockPool& pool, const GenerationSpec& wanted);
    GenerationSpec spec;
    std::shared_ptr<Adjuster> adjuster;  // null: it adjusts nothing
    std::vector<TokenId> tokens;
    bool foreign = false;  // holds a token that the model has no embedding of
    BlockTable table;
    int32_t cached = 0;
    PrefixCache::Place kept;             // how much of it outlives the sequence
    std::vector<KvMove> moves;           // done first in the next pass
    std::vector<TreeGrowth::Row> drawn;  // forwarded for the last tree, whose root was the last token then
    uint64_t job = 0;                    // that it last took part in

    int32_t root() const { return static_cast<int32_t>(tokens.size()) - 1; }  // position of the last token
    int32_t unlearnt() const { return root() - cached; }                      // rows to compute before the root's
    void take(std::span<const TokenId> more);                                 // tokens behind those it has
    void forget();                                                            // what the cache holds of it
  };
  // One ask within a job.
  struct Lane {
    size_t ask = 0;
    Sequence* sequence = nullptr;
    std::variant<TreeGrowth, DrawnGrowth> growth;
    KeyedDice dice;           // of a drawn one
    bool drafts = false;      // its root has been forwarded
    bool in_pass = false;     // with its frontier
    int32_t index = 0;        // of its block table in the pass
    size_t first_wanted = 0;  // row of the pass

    std::span<const TreeGrowth::Row> rows() const {
      return std::visit([](const auto& of) { return of.rows(); }, growth);
    }
    std::span<const TreeGrowth::Row> frontier() const {
      return std::visit([](const auto& of) { return of.frontier(); }, growth);
    }
  };

  SmallLm(LanguageModel model, const SmallLmOptions& options);
  std::optional<Lane> lane_of(const DraftAsk& ask);
  void adopt(Sequence& sequence);  // what the cache has of its beginning
  bool reserve(Sequence& sequence);
  void keep(Sequence& sequence);  // its whole blocks, for others
  Result<void> learn(std::vector<Lane>& lanes);
  Result<void> grow(std::vector<Lane>& lanes);
  void enter(Lane& lane, int32_t context_rows, bool frontier);
  Result<void> run(std::vector<Lane>& lanes);
  void rank_children(TreeGrowth& growth, size_t first_wanted);
  void draw_children(DrawnGrowth& growth, const Lane& lane, Dice& dice);

  LanguageModel model_;
  std::string name_;
  int32_t vocabulary_, siblings_max_;
  BlockPool pool_;
  PrefixCache prefixes_{pool_};
  std::map<DraftKey, Sequence> sequences_;
  StepPlan plan_;
  ChainScratch chain_;
  std::vector<float> adjusted_;  // one row
  uint64_t job_ = 0;
  MethodWork work_;
};

}  // namespace slipstream
