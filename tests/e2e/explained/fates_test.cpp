// Every draft node that a verifier receives has one fate: the fates add up to the nodes received.
#include <string>

#include <gtest/gtest.h>

#include "tests/e2e/support/cluster.h"
#include "tests/e2e/support/fate_metrics.h"
#include "tests/e2e/support/load.h"

namespace slipstream::e2e {
namespace {

class NodeFatesEndToEnd : public testing::TestWithParam<const char*> {};

TEST_P(NodeFatesEndToEnd, AddUpToWhatWasReceived) {
  Cluster cluster(tiny_model());
  cluster.start_all(GetParam());
  cluster.ask_all(six_questions(1.0F, 1.0F), 3);
  const FateMetrics fates(cluster.settled_verifier());
  fmt::print(
      "{}: received {}, accepted {}, rejected {}, unreached {}, trimmed {}, late {}, stale {}, invalid {}, merged {}, held "
      "{}\n",
      GetParam(), fates.received, fates.accepted, fates.rejected, fates.unreached, fates.trimmed, fates.late, fates.stale,
      fates.invalid, fates.merged, fates.held);
  if (std::string(GetParam()) != "malformed") {  // few of its messages hold nodes
    EXPECT_GT(fates.received, 0);
  }
  EXPECT_EQ(fates.accounted(), fates.received);
}

INSTANTIATE_TEST_SUITE_P(WhoeverDrafts, NodeFatesEndToEnd,
                         testing::Values("ngram", "small-lm", "random", "useless", "malformed", "late"),
                         [](const auto& script) {
                           std::string name = script.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace slipstream::e2e
