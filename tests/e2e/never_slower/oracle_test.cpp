// A drafter that knows the target's answers: the target accepts every node that it reaches, so no
// work of a correct drafter is wasted.
#include <gtest/gtest.h>

#include "tests/e2e/support/cluster.h"
#include "tests/e2e/support/fate_metrics.h"
#include "tests/e2e/support/load.h"
#include "tests/e2e/support/prompt_ids.h"

namespace slipstream::e2e {
namespace {

void expect_all_accepted(const std::vector<Question>& asked) {
  std::vector<Answer> plain;
  {
    Cluster cluster(tiny_model());
    cluster.start_all("none");
    plain = cluster.ask_all(asked, 2);
  }
  Cluster cluster(tiny_model());
  std::vector<Known> known;
  for (size_t i = 0; i < asked.size(); ++i)
    known.push_back({prompt_ids(tiny_model(), asked[i].text), plain[i].ids, static_cast<uint64_t>(*asked[i].seed)});
  write_answers(cluster.folder() / "answers.json", known);
  cluster.start_all("oracle");
  const std::vector<Answer> drafted = cluster.ask_all(asked, 2);
  for (size_t i = 0; i < asked.size(); ++i) EXPECT_EQ(drafted[i].ids, plain[i].ids) << asked[i].text;

  const FateMetrics fates(cluster.settled_verifier());
  fmt::print("{} nodes received, {} accepted, {} rejected: acceptance of reached nodes {:.3f}\n", fates.received,
             fates.accepted, fates.rejected, fates.accepted / (fates.accepted + fates.rejected));
  EXPECT_GT(fates.accepted, 100);
  EXPECT_EQ(fates.rejected, 0);
}

TEST(OracleDrafter, IsNeverRejectedAtTemperatureZero) { expect_all_accepted(six_questions(0.0F, 1.0F)); }

TEST(OracleDrafter, IsNeverRejectedWhenTokensAreSampledFromANucleus) { expect_all_accepted(six_questions(1.0F, 0.9F)); }

}  // namespace
}  // namespace slipstream::e2e
