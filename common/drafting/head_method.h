// Drafts with the target's draft head (model/heads/eagle_head.h) in a process of its own. Verifiers
// that compute the target send the features of each token (Advance::features); the head's keys and
// values are computed from them here, and trees grow as inside a verifier (head_trees.h). Of the
// target it holds embedding and output layer alone.
//
//   rule of the sequence   its trees
//   greedy, coupled        best-first, candidates ranked with the target's noise
//   ratio family           sampled from the head's distributions, which are sent along
//
// Nothing is evicted, since its verifier would have to send all of it again: a drafter takes no
// more tokens than room() says.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/drafting/context_words.h"
#include "common/drafting/extra_tokens.h"
#include "common/drafting/head_trees.h"
#include "common/drafting/method.h"
#include "common/engine/sequence_cache.h"
#include "common/model/language_model.h"

namespace slipstream {

struct HeadMethodOptions {
  std::filesystem::path model;     // the target: folder or GGUF file
  std::filesystem::path head;      // folder of its draft head
  std::shared_ptr<Device> device;  // may run other models too
  int32_t cache_tokens = 16384;    // size of the cache, in positions of all sequences together
  uint64_t cache_bytes = 0;        // instead, what it may take; 0: cache_tokens says it
  int siblings_max = 4;            // candidates per node, at most kSiblingsMax; 1: chains
};

class HeadMethod final : public Method {
 public:
  // Errors name the folder and what is wrong with it.
  static Result<std::unique_ptr<HeadMethod>> load(const HeadMethodOptions& options);

  std::string_view name() const override { return "draft-head"; }
  void begin(const DraftKey& key, const GenerationSpec& spec) override;
  void see(const DraftKey& key, std::span<const uint16_t> features) override;
  void advance(const DraftKey& key, std::span<const TokenId> tokens) override;
  Result<std::vector<Draft>> draft(std::span<const DraftAsk> asks) override;
  void end(const DraftKey& key) override { sequences_.erase(key); }

  MethodWork work() const override { return work_; }
  DraftModel draft_model() const override { return {model_.head_name(), model_.head_hash()}; }
  FeaturesRead features_read() const override { return {model_.head_hash(), model_.config().hidden}; }
  std::optional<MethodRoom> room() const override;
  const LanguageModel& model() const { return model_; }

 private:
  struct Sequence {
    GenerationSpec spec;
    CachedSequence context;
    std::vector<uint16_t> features = {};  // of the tokens that come next
    ContextWords words = {};
    bool incomplete = false;  // not all of its features lie in the plane: never draft for it
  };

  explicit HeadMethod(LanguageModel model);
  bool make_room(Sequence& sequence);
  Result<void> keep(Sequence& sequence, int32_t first);
  bool begin_tree(const DraftAsk& ask, std::vector<HeadAsk>& head_asks);
  Result<void> read_contexts(std::span<const DraftAsk> asks);

  LanguageModel model_;
  ExtraTokens extra_{model_};
  SequenceCache cache_;
  std::map<DraftKey, Sequence> sequences_;
  StepPlan plan_;
  Result<void> kept_;  // of the features that came since the last draft()
  MethodWork work_;
};

}  // namespace slipstream
