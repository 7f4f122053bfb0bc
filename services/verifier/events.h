// The events that the verifier's actor takes, the effects that it gives, and its configuration.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/actor/actor.h"
#include "common/actor/span.h"
#include "common/base/chain_rule.h"
#include "common/base/grammar_text.h"
#include "common/base/ids.h"
#include "common/base/limits.h"
#include "common/drafting/method.h"
#include "common/engine/cost_model.h"
#include "common/grammar/grammar_cache.h"
#include "common/messages/control.h"
#include "common/messages/draft.h"
#include "common/messages/generate.h"
#include "common/model/step_plan.h"
#include "common/speculation/wait_budget.h"
#include "common/worker/worker.h"
#include "services/verifier/grammar_guide.h"
#include "services/verifier/step_output.h"

namespace slipstream {

// The longest wait of a sequence for a tree of the ratio family; other sequences do not wait.
// Dropping a late tree biases the output if it is late because of the tokens sampled in it
// (adr/0008). Late trees make the draft back-off ask less often.
inline constexpr Time kSampledWait = std::chrono::seconds(1);

// A grammar whose masks of one round were more work than this is followed beside the loop, and
// nothing is drafted. It is what a step of a small model takes, behind which masks are hidden.
// Drafts begin again when the mask of the output alone is an eighth of it: drafts need several.
inline constexpr uint64_t kGrammarWorkMaxNs = 2'000'000;
inline constexpr uint64_t kGrammarWorkOfDrafts = 8;

struct VerifierConfig {
  WorkerProcess process;
  Fingerprint fingerprint;
  std::string numerics_id;
  bool rows_vary = false;                 // as Hello's
  CostModel cost;                         // of steps, as measured at start (calibrate.h)
  int32_t context_max = 0;                // tokens of one sequence, prompt and output together
  int32_t cache_blocks = 0;               // of kBlockTokens rows
  int32_t step_rows_max = kCpuStepRows;   // the device's
  int32_t sequences_max = kCpuSequences;  // at once
  double wait_share = kWaitShare;         // of the time computed (speculation/wait_budget.h)
  Time sampled_wait = kSampledWait;       // for a tree of the ratio family
  std::optional<Grammars> grammars = {};  // none: requests with a grammar are refused
  uint64_t grammar_work_max_ns = kGrammarWorkMaxNs;
  std::string head = {};                           // name of the target's draft head; empty: it has none
  FeaturesRead features = {};                      // that it sends to the drafters that read them; head 0: none
  std::optional<ChainRule> head_rule = {};         // by which it drafts chains; none: trees, by what they cost
  std::optional<TokenMask> draft_vocabulary = {};  // LanguageModel::draft_vocabulary()
};

// Compile this grammar while the loop goes on; tenants take turns.
struct CompileGrammar {
  GrammarText text;
  TenantId tenant = kNoTenant;
};
// It is compiled, or the error says why it cannot be.
struct GrammarCompiled {
  GrammarText text;
  GrammarCache::Compiled grammar;
};

// Let this grammar follow the tokens of a sequence's output while the loop goes on; tenants take
// turns. Nothing else asks the guide anything until it is answered.
struct FollowGrammar {
  uint64_t sequence = 0;  // its number
  GrammarGuide guide;
  std::vector<TokenId> tokens;
  TenantId tenant = kNoTenant;
};
// It has: what is allowed behind the tokens is known, or the error says why it is not.
struct GrammarFollowed {
  uint64_t sequence = 0;
  Result<void> followed;
};

using VerifierEvent =
    std::variant<Woke, PeerUp, PeerDown, Malformed, RoutersNamed, From<Welcome>, From<Refuse>, From<RouterHeartbeat>,
                 From<Drain>, From<Start>, From<Assign>, From<Ack>, From<Cancel>, From<Attached>, From<Tree>, From<Resync>,
                 From<Unknown>, GrammarCompiled, GrammarFollowed, Ran<VerifyPlan, StepOutput>>;
using VerifierEffect =
    std::variant<Connect, Disconnect, WakeAt, Run<VerifyPlan>, CompileGrammar, FollowGrammar, To<Hello>, To<WorkerHeartbeat>,
                 To<Leaving>, To<Accepted>, To<Refused>, To<Tokens>, To<Attach>, To<Advance>, To<Release>, Note, Span>;

}  // namespace slipstream
