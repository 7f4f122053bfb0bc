// Look-up finds earlier answers to the same API key, and only those: what one tenant was answered
// shows to no other, neither in words nor in how many of them were guessed.
#include <optional>

#include <gtest/gtest.h>

#include "tests/e2e/support/cluster.h"

namespace slipstream::e2e {
namespace {

class Tenants : public testing::Test {
 protected:
  Tenants() : cluster(tiny_model_with_room()) {
    cluster.start_all("resident+none");
    client.emplace(cluster.client());
  }
  // A random text of 300 tokens, the same at every call.
  Answer answer(const std::string& api_key) {
    const Question question{
        .text = "hello", .tokens_max = 300, .temperature = 1, .seed = 7, .more = kNoEnd, .api_key = api_key};
    return command::ask(*client, cluster.model_name(), question, [](const command::Piece&) { return true; }).value();
  }
  Cluster cluster;
  std::optional<http::Client> client;
};

TEST_F(Tenants, FindTheirOwnEarlierAnswers) {
  const Answer first = answer("one"), second = answer("one");
  EXPECT_EQ(first.ids, second.ids);
  EXPECT_GT(second.accepted_nodes, 150) << "nearly all of it was guessed";
  EXPECT_LT(first.accepted_nodes, second.accepted_nodes / 2);
}

TEST_F(Tenants, CannotProbeWhatOthersWereAnswered) {
  const int64_t alone = answer("").accepted_nodes;
  const Answer said = answer("one");
  for (const char* other : {"two", "", "on", "One"}) {
    const Answer probe = answer(other);
    EXPECT_EQ(probe.ids, said.ids);
    EXPECT_LE(probe.accepted_nodes, alone + 20) << "with the key '" << other << "'";
  }
}

}  // namespace
}  // namespace slipstream::e2e
