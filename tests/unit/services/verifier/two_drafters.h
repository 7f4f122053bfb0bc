// A verifier on its stage, with a router and two drafters of one kind.
#pragma once

#include <utility>
#include <vector>

#include "tests/unit/services/verifier/verifier_stage.h"

namespace slipstream {

// Two drafters: peers kDrafter and the next one, in the order in which the verifier heard of them.
constexpr Peer kOther{kDrafter.id + 1};
inline const DrafterRef kFirstRef{77, "tcp://drafter"}, kOtherRef{78, "tcp://other"};

class TwoDraftersTest : public VerifierStage {
 protected:
  TwoDraftersTest() {
    stage.hears(kRouter, start({kFirstRef, kOtherRef}));
    attach();
    stage.up(kOther);
    stage.says<Attach>();
    stage.hears(kOther, Attached{.drafter = 78, .fingerprint = config().fingerprint, .method = "test"});
    step();  // the prompt and the first token, without drafts: nobody was there yet
  }
  void step() {
    runs();
    sample_token();
  }
  static Assign assign(uint32_t version, std::vector<DrafterRef> drafters) {
    return {.sequence = {3, 1}, .epoch = 1, .version = version, .drafters = std::move(drafters)};
  }
  static DrafterRef tuned(DrafterRef ref, Tuning tuning) {
    ref.tuning = std::move(tuning);
    return ref;
  }
  // Answers as this drafter does, with nothing.
  void answers(const To<Advance>& advance, NoNodes why) {
    Tree empty = tree({}, advance);
    empty.no_nodes = why;
    stage.hears(advance.peer, empty);
  }
};

}  // namespace slipstream
