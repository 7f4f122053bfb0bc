// The fates of draft nodes, from a verifier's /metrics page.
#pragma once

#include "common/metrics/names.h"
#include "tests/e2e/support/samples.h"

namespace slipstream::e2e {

struct FateMetrics {
  double received = 0;
  double accepted = 0, rejected = 0, unreached = 0, trimmed = 0, late = 0, stale = 0, invalid = 0, merged = 0;
  double held = 0;  // nodes that wait for a step or are in one

  explicit FateMetrics(const Samples& verifier)
      : received(verifier.sum(metric::kVerifierNodesReceived.name)),
        accepted(of(verifier, "accepted")),
        rejected(of(verifier, "rejected")),
        unreached(of(verifier, "unreached")),
        trimmed(of(verifier, "trimmed")),
        late(of(verifier, "late")),
        stale(of(verifier, "stale")),
        invalid(of(verifier, "invalid")),
        merged(of(verifier, "merged")),
        held(verifier.sum(metric::kVerifierNodesHeld.name)) {}
  double accounted() const { return accepted + rejected + unreached + trimmed + late + stale + invalid + merged + held; }

 private:
  static double of(const Samples& verifier, const std::string& fate) {
    return verifier.sum(metric::kVerifierNodes.name, {"fate=\"" + fate + "\""});
  }
};

}  // namespace slipstream::e2e
