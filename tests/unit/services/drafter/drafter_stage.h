// A drafter on its stage, with one router and one attached verifier, and the Advances that such a
// verifier would send.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "common/base/prefix_hash.h"
#include "services/drafter/drafter.h"
#include "services/drafter/sequences.h"
#include "tests/stage/stage.h"

namespace slipstream {

inline constexpr Peer kRouter{1};
inline constexpr Peer kVerifier{0x8000'0000'0000'0001};
inline constexpr Peer kOtherVerifier{0x8000'0000'0000'0002};
inline constexpr SequenceId kSequence{7, 1};
inline const Fingerprint kTokens{.tokenizer = 11, .vocabulary = 100, .eos_ids = {2}};

inline DrafterConfig drafter_config() {
  return {.process = {.incarnation = 5, .metrics_endpoint = "http://127.0.0.1:8/metrics", .routers = {"tcp://127.0.0.1:9"}},
          .fingerprint = kTokens,
          .method = "ngram",
          .draft_model = "tiny",
          .draft_endpoint = "tcp://127.0.0.1:7"};
}

// tokens[base..] of a sequence, as the verifier would send them in `round`.
inline Advance advance(const std::vector<TokenId>& tokens, int32_t base, Round round) {
  const auto all = std::span<const TokenId>(tokens);
  PrefixHash hash;
  hash.add(all.first(static_cast<size_t>(base)));
  const auto fresh = all.subspan(static_cast<size_t>(base));
  return {.fence = {.sequence = kSequence, .epoch = 1, .round = round, .base_length = base, .prefix_hash = hash.value()},
          .tokens = {fresh.begin(), fresh.end()},
          .tuning = {.version = 3},
          .info = std::nullopt};
}

inline Advance first_advance(const std::vector<TokenId>& tokens, Round round = 1) {
  Advance message = advance(tokens, 0, round);
  message.info = GenerationSpec{.prompt_length = static_cast<int32_t>(tokens.size()), .sampling = {}};
  return message;
}

class DrafterStage : public testing::Test {
 protected:
  DrafterStage() {
    attach(kVerifier);
    stage.forget();
  }
  void attach(Peer verifier, const Fingerprint& fingerprint = kTokens) {
    stage.up(verifier);
    stage.hears(verifier, Attach{.versions = {}, .verifier = verifier.id, .fingerprint = fingerprint});
  }
  // Runs the job that waits; its first tree is this chain.
  void drafts(const std::vector<TokenId>& chain) {
    const size_t asks = stage.runs<DraftPlan>().asks.size();
    Drafts drafts{.trees = std::vector<Draft>(asks, DraftTree()), .draft_us = 40};
    if (asks > 0) drafts.trees[0] = DraftTree(TokenTree::chain(chain, 0.5F));
    stage.finishes(std::move(drafts));
  }
  const DrafterCounters& counters() { return drafter.counters(); }

  Drafter drafter{drafter_config()};
  Stage<Drafter> stage{drafter};
};

}  // namespace slipstream
