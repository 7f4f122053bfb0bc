// Random messages within the limits, for properties and mutations. Deterministic from the seed.
#pragma once

#include <algorithm>
#include <random>
#include <string>

#include "common/base/limits.h"
#include "common/messages/boundary.h"

namespace slipstream::testing {

class RandomMessage {
 public:
  explicit RandomMessage(uint64_t seed) : random_(seed) {}

  ControlMessage control() {
    switch (below(7)) {
      case 0:
        return hello();
      case 1:
        return WorkerHeartbeat{u32(), u32(), u64(), unit(), {{u64(), coin(), unit()}, {u64(), coin(), -unit()}}};
      case 2:
        return Leaving{text()};
      case 3:
        return Welcome{u16(), u64(), u32()};
      case 4:
        return Refuse{text()};
      case 5:
        return RouterHeartbeat{u64()};
      default:
        return Drain{text()};
    }
  }

  GenerateMessage generate() {
    switch (below(7)) {
      case 0:
        return start();
      case 1:
        return Ack{sequence(), u32(), length(), coin()};
      case 2:
        return Cancel{sequence(), u32()};
      case 3:
        return Accepted{sequence(), u32()};
      case 4:
        return Refused{sequence(), u32(), text(), coin()};
      case 5:
        return Assign{sequence(), u32(), u32(), drafters()};
      default:
        return tokens();
    }
  }

  DraftMessage draft() {
    switch (below(6)) {
      case 0:
        return Attach{versions(), u64(), fingerprint()};
      case 1:
        return Attached{u16(), u64(), fingerprint(), text(), text(), text(), coin()};
      case 2:
        return advance();
      case 3:
        return Release{sequence(), u32()};
      case 4:
        return tree();
      default:
        return Resync{sequence(), u32(), u32(), length()};
    }
  }

  uint64_t u64() { return random_(); }
  int below(int end) { return static_cast<int>(random_() % static_cast<uint64_t>(end)); }

 private:
  uint32_t u32() { return static_cast<uint32_t>(random_()); }
  uint16_t u16() { return static_cast<uint16_t>(random_()); }
  bool coin() { return below(2) == 0; }
  float unit() { return static_cast<float>(below(1025)) / 1024.0F; }
  int32_t length() { return below(kContextTokensMax + 1); }
  std::string text() {
    static const char* const kPieces[] = {"", "a", "reason ", "é", "漢字", "\U0001F600", "\n", "\""};
    std::string text;
    for (int n = below(9); n > 0; --n) text += kPieces[below(8)];
    return text;
  }
  std::vector<TokenId> ids(int entries_max) {
    std::vector<TokenId> ids(static_cast<size_t>(below(entries_max + 1)));
    for (TokenId& id : ids) id = static_cast<TokenId>(random_() & 0x7FFFFFFF);
    return ids;
  }
  SequenceId sequence() { return {u64(), u64()}; }
  VersionRange versions() { return {u16(), u16()}; }
  Fingerprint fingerprint() { return {u64(), below(200000), ids(kStopIdsMax), u64()}; }
  Acceptance acceptance() {
    const auto rule = static_cast<Rule>(below(static_cast<int>(Rule::typical) + 1));
    const auto children = [&] { return static_cast<uint8_t>(is_biased(rule) ? 1 : 1 + below(kSiblingsMax)); };
    return {rule, 0.5F + unit() / 2, unit(), children(), children(), coin()};
  }
  Fence fence() { return {sequence(), u32(), u32(), length(), u64()}; }
  SamplingParams sampling() { return {coin() ? 0.0F : kTemperatureMin + unit(), below(1000), 1.0F - unit() / 2, unit() / 2}; }
  std::vector<TokenId> ascending(int entries_max) {
    std::vector<TokenId> some = ids(entries_max);
    std::ranges::sort(some);
    const auto doubles = std::ranges::unique(some);
    some.erase(doubles.begin(), doubles.end());
    return some;
  }
  LogitsParams logits_params() {
    if (coin()) return {};
    LogitsParams how{.repetition_penalty = 0.5F + unit(),
                     .presence_penalty = 2 * unit() - 1,
                     .frequency_penalty = 2 * unit() - 1,
                     .min_tokens = length(),
                     .stop_ids = ids(kStopIdsMax)};
    for (TokenId id : ascending(20)) how.bias.push_back({id, 200 * unit() - 100});
    for (int n = below(6); n > 0; --n) {
      how.bad_words.push_back(ids(kBadWordTokensMax - 1));
      how.bad_words.back().push_back(below(100));
    }
    how.allowed = ascending(40);
    return how;
  }
  Tuning tuning() {
    return {u32(),
            unit(),
            static_cast<uint16_t>(below(kTreeNodesMax + 1)),
            static_cast<uint16_t>(below(kTreeDepthMax + 1)),
            static_cast<uint32_t>(below(kDeadlineUsMax + 1)),
            text()};
  }

  Hello hello() {
    Hello hello{versions(), coin() ? Role::verifier : Role::drafter,
                u64(),      fingerprint(),
                text(),     {},
                length(),   below(100000),
                text(),     text(),
                u32(),      text(),
                coin(),     coin(),
                coin()};
    for (int n = below(kMethodsMax + 1); n > 0; --n) hello.methods.push_back(text());
    return hello;
  }
  std::vector<DrafterRef> drafters() {
    std::vector<DrafterRef> drafters;
    for (int n = below(kDraftersPerSequenceMax + 1); n > 0; --n) drafters.push_back({u64(), text(), tuning()});
    return drafters;
  }
  GenerationSpec drafter_spec() {
    return {.prompt_length = length(),
            .sampling = sampling(),
            .logits_params = logits_params(),
            .seed = u64(),
            .choice = static_cast<uint32_t>(below(kChoicesMax)),
            .acceptance = acceptance(),
            .tenant = u64()};
  }
  Start start() {
    Start start{.sequence = sequence(), .epoch = u32(), .spec = drafter_spec(), .tokens = ids(300)};
    start.spec.prompt_length = below(static_cast<int>(start.tokens.size()) + 1);
    start.spec.output_max = length();
    start.spec.stop_ids = ids(kStopIdsMax);
    if (coin()) start.spec.top_logprobs = below(kTopLogprobsMax + 1);
    if (coin()) start.spec.prompt_logprobs = below(kTopLogprobsMax + 1);
    start.spec.trees = below(kTreeReportsMax + 1);
    start.scored = below(start.spec.prompt_length + 1);
    if (coin()) start.spec.grammar = {static_cast<GrammarForm>(below(3)), "{}\n" + text()};
    start.drafters = drafters();
    start.draft_nodes_max = static_cast<uint16_t>(below(kTreeNodesMax + 1));
    start.draft_depth_max = static_cast<uint16_t>(below(kTreeDepthMax + 1));
    start.lease_ms = kLeaseMsMin + static_cast<uint32_t>(below(kLeaseMsMax - kLeaseMsMin));
    return start;
  }
  std::vector<TokenLogprob> logprobs(size_t count) {
    std::vector<TokenLogprob> made;
    for (size_t n = 0; n < count; ++n) {
      TokenLogprob& each = made.emplace_back(TokenLogprob{-20 * unit(), {}, below(100000)});
      for (int top = below(kTopLogprobsMax + 1); top > 0; --top) each.top.push_back({below(100000), -20 * unit()});
    }
    return made;
  }
  TreeReport tree_report(int32_t first_index) {
    TreeReport tree{.first_index = first_index, .own = below(1000) - 1, .proposers = {{text(), text()}}, .nodes = {}};
    for (int n = below(kProposersMax); n > 0; --n) tree.proposers.push_back({text(), text()});
    for (int n = 0; n <= below(kTreeNodesMax); ++n) {
      const int by = below(static_cast<int>(tree.proposers.size()));
      tree.nodes.push_back(
          {below(100000), below(n + 1) - 1, unit(), static_cast<uint8_t>(by), static_cast<NodeFate>(below(4))});
    }
    return tree;
  }
  Tokens tokens() {
    if (below(4) > 0) return output();
    const int32_t count = below(kPromptTokensPerMessageMax + 1);
    return {
        .sequence = sequence(), .epoch = u32(), .first_index = -1 - count, .logprobs = logprobs(static_cast<size_t>(count))};
  }
  Tokens output() {
    Tokens tokens{.sequence = sequence(), .epoch = u32(), .first_index = length(), .ids = ids(70)};
    for (size_t n = 0; n < tokens.ids.size(); ++n) tokens.drafted.push_back(coin() ? 1 : 0);
    for (const uint8_t drafted : tokens.drafted) tokens.depths.push_back(static_cast<uint8_t>(drafted + below(kTreeDepthMax)));
    tokens.logprobs = logprobs(coin() ? tokens.ids.size() : 0);
    for (size_t n = 0; n < tokens.ids.size() && tokens.trees.size() < kTreeReportsMax; ++n) {
      if (below(8) == 0) tokens.trees.push_back(tree_report(tokens.first_index + static_cast<int32_t>(n)));
    }
    tokens.finish = static_cast<Finish>(below(5));
    tokens.reason = text();
    tokens.field = text();
    tokens.report = {u32(), u32(), u32(), u32(), u32(), u32(), u32(), u32(), u32(), u32(), u32(), unit(), u32(), u32()};
    return tokens;
  }
  Advance advance() {
    Advance advance{fence(), ids(300), coin(), tuning(), std::nullopt};
    if (coin()) advance.info = drafter_spec();
    if (coin()) {
      advance.verdicts = ids(kTreeNodesMax - 1);
      advance.verdicts.insert(advance.verdicts.end(), {below(100), kNoVerdict});
    } else if (coin()) {
      advance.verdicts = {below(100)};  // on a tree without nodes
    }
    for (int n = coin() && !advance.info ? below(kAdvanceFeaturesMax + 1) : 0; n > 0; --n) advance.features.push_back(u16());
    return advance;
  }
  Tree tree() {
    Tree tree{fence(), {}, {}, static_cast<NoNodes>(below(4)), u32()};
    for (int n = below(3); n > 0; --n) {
      DraftDistribution& distribution =
          tree.distributions.emplace_back(DraftDistribution{ids(kDraftDistributionTokensMax), {}});
      for (int i = below(kDraftDistributionTokensMax + 1); i > 0; --i) distribution.weights.push_back(u16());
    }
    for (int n = below(kTreeNodesMax + 1); n > 0; --n) {
      tree.nodes.push_back({static_cast<TokenId>(u32()), static_cast<int32_t>(u32()), unit()});
    }
    return tree;
  }

  std::mt19937_64 random_;
};

}  // namespace slipstream::testing
