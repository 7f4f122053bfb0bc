// A router on its stage, with workers and requests to play with.
#pragma once

#include <gtest/gtest.h>

#include "services/router/router.h"
#include "tests/stage/stage.h"

namespace slipstream {

using std::chrono::milliseconds;

inline constexpr Peer kVerifier{0x8000000000000001}, kSpare{0x8000000000000002}, kDrafter{0x8000000000000003};
inline constexpr Incarnation kRouter = 77;
inline const Fingerprint kTokens{.tokenizer = 0xABC, .vocabulary = 100, .eos_ids = {2}};

inline RouterConfig config() { return {.incarnation = kRouter, .fingerprint = kTokens, .context_max = 64}; }

inline Hello verifier(Peer peer) {
  Hello hello{.role = Role::verifier, .incarnation = peer.id, .fingerprint = kTokens, .numerics_id = "cpu-test"};
  hello.fingerprint.weights = 0x11;
  hello.context_max = 64;
  hello.sequences_max = 2;
  hello.scores_prompts = true;
  return hello;
}
inline Hello drafter(Peer peer, std::string endpoint) {
  return {.role = Role::drafter,
          .incarnation = peer.id,
          .fingerprint = kTokens,
          .methods = {"ngram"},
          .draft_endpoint = std::move(endpoint)};
}
inline Submit ask(RequestId id, int32_t output_max = 8) {
  return {.request = id, .prompt = {10, 11, 12}, .spec = {.seed = 5, .output_max = output_max, .stop_ids = {2}}};
}

class RouterTest : public testing::Test {
 protected:
  SequenceId sequence(RequestId id) const { return {kRouter, id}; }
  void tokens(Peer peer, RequestId id, Epoch epoch, int32_t first, std::vector<TokenId> ids, Finish finish = Finish::none) {
    const auto count = ids.size();
    stage.hears(peer, Tokens{.sequence = sequence(id),
                             .epoch = epoch,
                             .first_index = first,
                             .ids = std::move(ids),
                             .drafted = std::vector<uint8_t>(count),
                             .depths = std::vector<uint8_t>(count),
                             .finish = finish});
  }
  void accept(Peer peer, RequestId id, Epoch epoch) { stage.hears(peer, Accepted{sequence(id), epoch}); }
  // Time passes while these workers heartbeat.
  void lives(milliseconds duration, std::initializer_list<Peer> workers) {
    for (milliseconds t{0}; t < duration; t += milliseconds(100)) {
      stage.waits(milliseconds(100));
      for (Peer peer : workers) stage.hears(peer, WorkerHeartbeat{});
    }
  }

  explicit RouterTest(RouterConfig given = config()) : router(std::move(given)) {}

  Router router;
  Stage<Router> stage{router};
};

}  // namespace slipstream
