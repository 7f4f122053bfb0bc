// Drafts with a small language model: any model of the Llama family that has the target's
// tokenizer.
//
//   rule of the sequence   how its tree grows
//   greedy, coupled        best-first (speculation/tree_growth.h), candidates ranked with the target's noise (sampling/rank.h);
//                          an acceptance head beside the model says which forwarded tokens are worth children
//   ratio family           sampled from the model's distributions, which are sent along (rejection/sampled_tree_builder.h)
//
// One call of draft() is a job over the sequences of all verifiers:
//
//   1. The first pass prefills what is missing of each context, up to kPrefillRows, and forwards the
//      root of every sequence whose context is then complete.
//   2. Each further pass forwards the next level of all trees together, until no tree grows.
//
// A sequence with a long prompt needs several jobs; its asks stay unanswered until its root has
// been forwarded, while others draft.
//
// What the target chose at the rows of a tree (speculation/verdicts.h) calibrates the confidences
// with which later trees grow. There is one calibration for greedy and one for coupled sequences;
// all sequences share them.
//
// Each sequence's K/V stays in a cache of the method (engine/sequence_cache.h). Accepted rows of
// its last tree are moved into place, not computed again. When the cache is full, the sequence that
// took part in a job longest ago is evicted; it is computed again when it is asked for.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "common/drafting/growth.h"
#include "common/drafting/method.h"
#include "common/engine/pass.h"
#include "common/engine/sequence_cache.h"
#include "common/messages/by_rule.h"
#include "common/model/language_model.h"
#include "common/model/processed_row.h"

namespace slipstream {

// Prefill rows of one job, for sequences that miss more than kPrefillRowsBeside rows: kPrefillRows
// in a pass of their own (short, because other asks may arrive meanwhile), kPrefillRowsBeside in a
// pass that also forwards trees. A sequence that misses fewer rows is prefilled and drafts in the
// same job.
inline constexpr int kPrefillRows = 64;
inline constexpr int kPrefillRowsBeside = 32;

struct SmallLmOptions {
  std::filesystem::path folder;
  std::string name = {};           // of the model, for status pages and logs
  std::shared_ptr<Device> device;  // may run other models too
  int32_t cache_tokens = 16384;    // size of the cache, in positions of all sequences together
  uint64_t cache_bytes = 0;        // instead, what it may take; 0: cache_tokens says it
  bool fine_rows = false;          // of the model: as LlamaOptions (model/llama.h)
  int32_t vocabulary = 0;          // of the target: larger ids are never drafted
  int siblings_max = 4;            // candidates per node, at most kSiblingsMax; 1: chains
};

class SmallLm final : public Method {
 public:
  static Result<std::unique_ptr<SmallLm>> load(const SmallLmOptions& options);

  std::string_view name() const override { return "small-lm"; }
  void begin(const DraftKey& key, const GenerationSpec& spec) override;
  void learn(const DraftKey& key, std::span<const TokenId> verdicts) override;
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
    bool foreign = false;                      // a token has no embedding in the model: never draft for it
    std::vector<TreeRow> forwarded = {};       // rows of the last tree; void once the sequence is evicted
    std::vector<ProposedChild> proposed = {};  // of the last tree, until it gets its verdicts or tokens follow
    size_t drafted_nodes = 0;                  // of that tree
    uint64_t job = 0;                          // the last job that it took part in
  };
  // One ask while its tree grows.
  struct GrowingTree {
    size_t ask = 0;
    Sequence* sequence = nullptr;
    Growth growth;
    std::optional<PassSlice> slice;  // its batch slice of the pass that is laid out
    bool in_pass = false;            // the pass forwards its frontier, not its context only
    bool drafts = false;             // its root has been forwarded
  };

  SmallLm(LanguageModel model, const SmallLmOptions& options);
  CachedSequence* longest_idle();  // the next sequence to evict, none of this job; null: no other holds blocks
  std::optional<GrowingTree> begin_tree(const DraftAsk& ask);
  DraftTree end_tree(const GrowingTree& tree);
  Result<void> prefill(std::vector<GrowingTree>& trees);
  Result<void> grow(std::vector<GrowingTree>& trees);
  void add_frontier(GrowingTree& tree, int32_t context_rows);
  Result<void> run(std::vector<GrowingTree>& trees);
  void rank_children(TreeGrowth& growth, size_t first_wanted, bool sampled);
  void sample_children(GrowingTree& tree);

  LanguageModel model_;
  std::string name_;
  int32_t vocabulary_, siblings_max_;
  SequenceCache cache_;
  std::map<DraftKey, Sequence> sequences_;
  StepPlan plan_;
  Pass pass_{plan_};
  ChainScratch chain_;
  ProcessedScratch processed_;
  uint64_t job_ = 0;
  ByRule<Calibration> calibrations_;
  MethodWork work_;
};

}  // namespace slipstream
