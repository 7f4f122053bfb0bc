// Grows draft trees by a model's draft head (model/heads), which lies on the model's device and in
// its cache. The trees of several sequences grow level by level, one pass of the head a level for
// all of them. A tree of the ratio family is sampled from the head's distributions, which come with
// it. On the thread that runs the model.
#pragma once

#include <cstdint>
#include <vector>

#include "common/drafting/context_words.h"
#include "common/drafting/extra_tokens.h"
#include "common/engine/pass.h"
#include "common/messages/generation.h"
#include "common/model/language_model.h"
#include "common/speculation/rejection/draft_tree.h"
#include "common/speculation/stop_rule.h"

namespace slipstream {

// A sequence that a tree is wanted for. Its blocks have room for kTreeNodesMax rows behind the
// root: nodes that were read and then lost their place keep their row.
struct HeadAsk {
  TreeBase base;
  StopRule rule;
  uint64_t seed = 0;  // of the request; with the next two: the noise by which the target will sample
  uint32_t choice = 0;
  SamplingParams sampling;
  Acceptance acceptance = {};  // of the request
  Epoch epoch = 0;             // with the round: the key of a sampled tree's random numbers
  Round round = 0;
  std::vector<TokenId> words = {};  // of its context (context_words.h)
};

// Which tree of a sequence.
struct RoundKey {
  Epoch epoch = 0;
  Round round = 0;
};

// The ask for a sequence whose blocks are reserved; its pending moves go along. words: of the
// sequence, read up to now where the head has a reduced vocabulary.
HeadAsk head_ask(CachedSequence& sequence, const GenerationSpec& spec, const RoundKey& key, const StopRule& rule,
                 ContextWords& words, const TokenMask* draft_vocabulary);

struct HeadTrees {
  std::vector<DraftTree> trees;  // [asks] a node's survival is the product of the chances on its path (tree_growth.h)
  int32_t passes = 0;
};

// extra: of the model. plan: a scratch whose blocks_max is set. An error is the device's: the rows
// behind the roots, and pending moves, are in an unknown state then.
Result<HeadTrees> draft_by_head(LanguageModel& model, std::vector<HeadAsk>& asks, ExtraTokens& extra, StepPlan& plan);

}  // namespace slipstream
