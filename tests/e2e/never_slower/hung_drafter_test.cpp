// A drafter that hangs holds up no answer.
#include <csignal>

#include <gtest/gtest.h>

#include "tests/e2e/support/load.h"

namespace slipstream::e2e {
namespace {

TEST(DrafterHang, HoldsUpNoAnswer) {
  Cluster cluster(tiny_model());
  cluster.start_all("ngram");
  const Answer expected = cluster.ask(long_question(600));
  int pieces = 0;
  const Answer answer = cluster.ask(long_question(600), [&](const Piece&) {
    if (++pieces == 20) cluster.process("drafter").signal(SIGSTOP);
  });
  cluster.process("drafter").signal(SIGCONT);
  EXPECT_EQ(answer.ids, expected.ids);
}

}  // namespace
}  // namespace slipstream::e2e
