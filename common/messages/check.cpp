#include "common/messages/check.h"

#include <algorithm>
#include <limits>
#include <span>
#include <string_view>

#include "common/base/limits.h"

namespace slipstream {
namespace {

template <class T>
Result<void> within(std::string_view field, T value, T low, T high) {
  if (value >= low && value <= high) return {};  // a NaN fails both comparisons
  return fail("{} is {}, but must be in [{}, {}]", field, value, low, high);
}
Result<void> count(std::string_view field, int32_t value) { return within(field, value, 0, kContextTokensMax); }
// Of a token, as Tokens counts: below 0 it is the prompt's.
Result<void> index(std::string_view field, int32_t value) {
  return within(field, value, 1 - kContextTokensMax, kContextTokensMax);
}

Result<void> entries(std::string_view field, size_t size, int entries_max) {
  if (size <= static_cast<size_t>(entries_max)) return {};
  return fail("{} has {} entries, the limit is {}", field, size, entries_max);
}

Result<void> bytes(std::string_view field, std::string_view text, size_t bytes_max = kTextBytesMax) {
  if (text.size() <= bytes_max) return {};
  return fail("{} has {} bytes, the limit is {}", field, text.size(), bytes_max);
}

Result<void> tokens(std::string_view field, std::span<const TokenId> ids, int entries_max) {
  TRY_VOID(entries(field, ids.size(), entries_max));
  if (std::ranges::all_of(ids, [](TokenId id) { return id >= 0; })) return {};
  return fail("{} holds a negative token id", field);
}

Result<void> valid(const Fingerprint& fingerprint) {
  TRY_VOID(within("Fingerprint.vocabulary", fingerprint.vocabulary, 0, INT32_MAX));
  return tokens("Fingerprint.eosIds", fingerprint.eos_ids, kStopIdsMax);
}

Result<void> valid(const Tuning& tuning) {
  TRY_VOID(within("Tuning.threshold", tuning.threshold, 0.0F, 1.0F));
  TRY_VOID(within<int>("Tuning.nodesMax", tuning.nodes_max, 0, kTreeNodesMax));
  TRY_VOID(within<int>("Tuning.depthMax", tuning.depth_max, 0, kTreeDepthMax));
  return within<uint32_t>("Tuning.deadlineUs", tuning.deadline_us, 0, kDeadlineUsMax);
}

Result<void> valid(const SamplingParams& sampling) {
  if (sampling.temperature != 0.0F) {
    TRY_VOID(within("Sampling.temperature, when not 0,", sampling.temperature, kTemperatureMin, kTemperatureMax));
  }
  TRY_VOID(within("Sampling.topK", sampling.top_k, 0, INT32_MAX));
  TRY_VOID(within("Sampling.topP", sampling.top_p, 0.0F, 1.0F));
  if (sampling.top_p == 0.0F) return fail("Sampling.topP is 0, but must be above; 1 switches it off");
  TRY_VOID(within("Sampling.minP", sampling.min_p, 0.0F, 1.0F));
  if (sampling.min_p == 1.0F) return fail("Sampling.minP is 1, but must be below; 0 switches it off");
  return {};
}

Result<void> valid(const LogitsParams& how) {
  TRY_VOID(within("LogitsParams.repetitionPenalty", how.repetition_penalty, kRepetitionPenaltyMin, kRepetitionPenaltyMax));
  TRY_VOID(within("LogitsParams.presencePenalty", how.presence_penalty, -kPenaltyMax, kPenaltyMax));
  TRY_VOID(within("LogitsParams.frequencyPenalty", how.frequency_penalty, -kPenaltyMax, kPenaltyMax));
  TRY_VOID(count("LogitsParams.minTokens", how.min_tokens));
  TRY_VOID(tokens("LogitsParams.stopIds", how.stop_ids, kStopIdsMax));
  TRY_VOID(entries("LogitsParams.logitBias", how.bias.size(), kLogitBiasMax));
  for (const LogitBias& each : how.bias) {
    TRY_VOID(within("LogitBias.id", each.id, 0, INT32_MAX));
    TRY_VOID(within("LogitBias.bias", each.bias, -kLogitBiasMost, kLogitBiasMost));
  }
  // An id that occurs twice would get its bias twice. In ascending order one pass finds it.
  if (std::ranges::adjacent_find(how.bias, std::ranges::greater_equal{}, &LogitBias::id) != how.bias.end()) {
    return fail("LogitsParams.logitBias must ascend by id, each once");
  }
  TRY_VOID(entries("LogitsParams.badWords", how.bad_words.size(), kBadSequencesMax));
  for (const std::vector<TokenId>& word : how.bad_words) {
    TRY_VOID(tokens("LogitsParams.badWords", word, kBadWordTokensMax));
    if (word.empty()) return fail("LogitsParams.badWords holds a word of no tokens");
  }
  TRY_VOID(tokens("LogitsParams.allowedIds", how.allowed, kAllowedTokensMax));
  if (std::ranges::adjacent_find(how.allowed, std::ranges::greater_equal{}) == how.allowed.end()) return {};
  return fail("LogitsParams.allowedIds must ascend, each once");
}

Result<void> valid(const Acceptance& acceptance) {
  TRY_VOID(within("Acceptance.strength", acceptance.strength, 0.0F, 1.0F));
  if (acceptance.rule == Rule::lenience && acceptance.strength == 0.0F) {
    return fail("Acceptance.strength is 0, but lenience must be above; 1 spends nothing");
  }
  TRY_VOID(within("Acceptance.delta", acceptance.delta, 0.0F, 1.0F));
  TRY_VOID(within<int>("Acceptance.rootChildren", acceptance.root_children, 1, kSiblingsMax));
  TRY_VOID(within<int>("Acceptance.children", acceptance.children, 1, kSiblingsMax));
  if (is_biased(acceptance.rule) && acceptance.root_children * acceptance.children > 1) {
    return fail("a rule that declares its bias takes chains only: send 1 child a node");
  }
  return {};
}

Result<void> valid(const Fence& fence) { return count("Fence.baseLength", fence.base_length); }

Result<void> valid(const GenerationSpec& spec) {
  TRY_VOID(count("promptLength", spec.prompt_length));
  TRY_VOID(valid(spec.sampling));
  TRY_VOID(valid(spec.logits_params));
  TRY_VOID(within<uint32_t>("choice", spec.choice, 0, kChoicesMax - 1));
  TRY_VOID(valid(spec.acceptance));
  TRY_VOID(count("outputMax", spec.output_max));
  TRY_VOID(tokens("stopIds", spec.stop_ids, kStopIdsMax));
  TRY_VOID(bytes("Grammar.text", spec.grammar.text, kGrammarBytesMax));
  TRY_VOID(within("topLogprobs", spec.top_logprobs.value_or(0), 0, kTopLogprobsMax));
  TRY_VOID(within("promptLogprobs", spec.prompt_logprobs.value_or(0), 0, kTopLogprobsMax));
  return within("trees", spec.trees, 0, kTreeReportsMax);
}

Result<void> valid(const Hello& hello) {
  TRY_VOID(valid(hello.fingerprint));
  TRY_VOID(bytes("Hello.numericsId", hello.numerics_id));
  TRY_VOID(entries("Hello.methods", hello.methods.size(), kMethodsMax));
  for (const std::string& method : hello.methods) TRY_VOID(bytes("Hello.methods", method));
  TRY_VOID(count("Hello.contextMax", hello.context_max));
  TRY_VOID(within("Hello.sequencesMax", hello.sequences_max, 0, INT32_MAX));
  TRY_VOID(bytes("Hello.draftEndpoint", hello.draft_endpoint));
  TRY_VOID(bytes("Hello.metricsEndpoint", hello.metrics_endpoint));
  return bytes("Hello.draftModel", hello.draft_model);
}
Result<void> valid(const WorkerHeartbeat& heartbeat) {
  TRY_VOID(within("WorkerHeartbeat.busy", heartbeat.busy, 0.0F, 1.0F));
  TRY_VOID(entries("WorkerHeartbeat.drafterGains", heartbeat.drafter_gains.size(), kDrafterGainsMax));
  for (const DrafterGain& gain : heartbeat.drafter_gains) {
    TRY_VOID(within<float>("DrafterGain.tokens", gain.tokens, -kTreeNodesMax, kTreeNodesMax));
  }
  return {};
}

Result<void> valid(const char* what, const std::vector<DrafterRef>& drafters) {
  TRY_VOID(entries(what, drafters.size(), kDraftersPerSequenceMax));
  for (const DrafterRef& drafter : drafters) {
    TRY_VOID(bytes("DrafterRef.endpoint", drafter.endpoint));
    TRY_VOID(valid(drafter.tuning));
  }
  return {};
}

Result<void> valid(const Start& start) {
  TRY_VOID(valid(start.spec));
  TRY_VOID(tokens("Start.tokens", start.tokens, kContextTokensMax));
  TRY_VOID(within("Start.promptLength", start.spec.prompt_length, 0, static_cast<int32_t>(start.tokens.size())));
  TRY_VOID(within("Start.scored", start.scored, 0, start.spec.prompt_length));
  TRY_VOID(within("Start.leaseMs", start.lease_ms, kLeaseMsMin, kLeaseMsMax));
  TRY_VOID(within<int>("Start.draftNodesMax", start.draft_nodes_max, 0, kTreeNodesMax));
  TRY_VOID(within<int>("Start.draftDepthMax", start.draft_depth_max, 0, kTreeDepthMax));
  return valid("Start.drafters", start.drafters);
}
Result<void> valid(const Assign& assign) { return valid("Assign.drafters", assign.drafters); }
Result<void> valid(const Ack& ack) { return index("Ack.nextIndex", ack.next_index); }

// Finite and at most 0: JSON cannot express an infinity.
Result<void> logprob(float value) { return within("logprob", value, -std::numeric_limits<float>::max(), 0.0F); }

Result<void> valid(const TokenLogprob& token) {
  TRY_VOID(logprob(token.logprob));
  TRY_VOID(within("TokenLogprob.rank", token.rank, 0, INT32_MAX));
  TRY_VOID(entries("TokenLogprob.top", token.top.size(), kTopLogprobsMax));
  for (const Logprob& each : token.top) {
    TRY_VOID(within("Logprob.id", each.id, 0, INT32_MAX));
    TRY_VOID(logprob(each.logprob));
  }
  return {};
}

// Logprobs of the prompt, all of them before output index 0.
Result<void> of_prompt(const Tokens& message) {
  if (!message.ids.empty()) return fail("Tokens.ids has {} entries before output index 0", message.ids.size());
  TRY_VOID(entries("Tokens.logprobs of a prompt", message.logprobs.size(), kPromptTokensPerMessageMax));
  if (message.first_index + static_cast<int64_t>(message.logprobs.size()) <= 0) return {};
  return fail("Tokens.logprobs of a prompt has {} entries from index {} on", message.logprobs.size(), message.first_index);
}

Result<void> valid(const TreeReport& tree) {
  TRY_VOID(within("TreeReport.own", tree.own, -1, INT32_MAX));
  TRY_VOID(entries("TreeReport.proposers", tree.proposers.size(), kProposersMax));
  for (const Proposer& proposer : tree.proposers) {
    TRY_VOID(bytes("Proposer.method", proposer.method, kProposerBytesMax));
    TRY_VOID(bytes("Proposer.model", proposer.model, kProposerBytesMax));
  }
  if (tree.nodes.empty()) return fail("TreeReport.nodes is empty");
  TRY_VOID(entries("TreeReport.nodes", tree.nodes.size(), kTreeNodesMax));
  for (size_t i = 0; i < tree.nodes.size(); ++i) {
    const ReportedNode& node = tree.nodes[i];
    TRY_VOID(within("ReportedNode.token", node.token, 0, INT32_MAX));
    TRY_VOID(within("ReportedNode.parent", node.parent, kRoot, static_cast<int32_t>(i) - 1));
    TRY_VOID(within("ReportedNode.chance", node.chance, 0.0F, 1.0F));
    if (node.by >= tree.proposers.size()) {
      return fail("ReportedNode.by is {} of {} proposers", node.by, tree.proposers.size());
    }
  }
  return {};
}

// Each belongs to a token of the message.
Result<void> trees(const Tokens& message) {
  TRY_VOID(entries("Tokens.trees", message.trees.size(), kTreeReportsMax));
  int64_t least = message.first_index;
  const int64_t end = message.first_index + static_cast<int64_t>(message.ids.size());
  for (const TreeReport& tree : message.trees) {
    if (tree.first_index < least || tree.first_index >= end) {
      return fail("TreeReport.firstIndex is {}, but must ascend in [{}, {})", tree.first_index, message.first_index, end);
    }
    least = int64_t{tree.first_index} + 1;
    TRY_VOID(valid(tree));
  }
  return {};
}

Result<void> valid(const Tokens& message) {
  TRY_VOID(within("Report.spent", message.report.spent, 0.0F, static_cast<float>(kContextTokensMax)));
  TRY_VOID(bytes("Tokens.field", message.field));
  TRY_VOID(index("Tokens.firstIndex", message.first_index));
  TRY_VOID(tokens("Tokens.ids", message.ids, kTokensPerMessageMax));
  if (message.drafted.size() != message.ids.size()) {
    return fail("Tokens.drafted has {} entries beside {} ids", message.drafted.size(), message.ids.size());
  }
  if (!std::ranges::all_of(message.drafted, [](uint8_t flag) { return flag <= 1; })) {
    return fail("Tokens.drafted holds a flag that is neither 0 nor 1");
  }
  if (message.depths.size() != message.ids.size()) {
    return fail("Tokens.depths has {} entries beside {} ids", message.depths.size(), message.ids.size());
  }
  // A drafted token came from a tree, so its tree has a depth of at least 1.
  for (size_t i = 0; i < message.ids.size(); ++i) {
    TRY_VOID(within("Tokens.depths", int{message.depths[i]}, int{message.drafted[i]}, kTreeDepthMax));
  }
  for (const TokenLogprob& each : message.logprobs) TRY_VOID(valid(each));
  TRY_VOID(trees(message));
  if (message.first_index < 0) return of_prompt(message);
  if (message.logprobs.empty() || message.logprobs.size() == message.ids.size()) return {};
  return fail("Tokens.logprobs has {} entries beside {} ids", message.logprobs.size(), message.ids.size());
}

Result<void> valid(const Attach& attach) { return valid(attach.fingerprint); }
Result<void> valid(const Attached& attached) {
  TRY_VOID(bytes("Attached.method", attached.method));
  TRY_VOID(bytes("Attached.model", attached.model));
  return valid(attached.fingerprint);
}

// Of a tree without nodes the root alone was verified.
Result<void> verdicts(std::span<const TokenId> choices) {
  TRY_VOID(entries("Advance.verdicts", choices.size(), kTreeNodesMax + 1));
  if (choices.size() == 1 && choices.front() == kNoVerdict) return fail("Advance.verdicts of 1 entry says nothing");
  if (std::ranges::all_of(choices, [](TokenId id) { return id >= kNoVerdict; })) return {};
  return fail("Advance.verdicts holds a token id below {}", kNoVerdict);
}

Result<void> valid(const Advance& advance) {
  TRY_VOID(valid(advance.fence));
  TRY_VOID(tokens("Advance.tokens", advance.tokens, kAdvanceTokensMax));
  TRY_VOID(entries("Advance.features", advance.features.size(), kAdvanceFeaturesMax));
  TRY_VOID(valid(advance.tuning));
  TRY_VOID(verdicts(advance.verdicts));
  return advance.info ? valid(*advance.info) : Result<void>();
}

// Tokens, parents and distributions are not checked here: TokenTree::make and DraftTree::make check
// them, because they know the vocabulary.
Result<void> valid(const Tree& tree) {
  TRY_VOID(valid(tree.fence));
  TRY_VOID(entries("Tree.nodes", tree.nodes.size(), kTreeNodesMax));
  for (const TreeNode& node : tree.nodes) TRY_VOID(within("TreeNode.survival", node.survival, 0.0F, 1.0F));
  return {};
}
Result<void> valid(const Resync& resync) { return count("Resync.held", resync.held); }

// Messages whose fields are only ids, numbers without a range, and free text.
template <class M>
Result<void> valid(const M&)
  requires is_one_of<
      M, std::variant<Leaving, Welcome, Refuse, RouterHeartbeat, Drain, Cancel, Accepted, Refused, Release, Unknown>>
{
  return {};
}

}  // namespace

Result<void> check(const ControlMessage& message) {
  return std::visit([](const auto& m) { return valid(m); }, message);
}
Result<void> check(const GenerateMessage& message) {
  return std::visit([](const auto& m) { return valid(m); }, message);
}
Result<void> check(const DraftMessage& message) {
  return std::visit([](const auto& m) { return valid(m); }, message);
}

}  // namespace slipstream
