// An API key that is over its limits gets 429, and one without limits goes on.
#include <fstream>

#include <gtest/gtest.h>

#include "tests/e2e/support/cluster.h"

namespace slipstream::e2e {
namespace {

TEST(KeyLimits, RefuseWhatIsBeyondThem) {
  Cluster cluster(tiny_model());
  const auto file = cluster.folder() / "api-keys";
  std::ofstream(file) << "alice sk-alice rpm=2\nsk-bob\n";
  cluster.start_router({"--api-key-file", file.string()});  // no verifier: the router tokenises by itself
  const auto status = [&](const std::string& key) {
    http::Client client = cluster.client();
    client.set_api_key(key);
    const auto reply = client.post("/tokenize", R"({"prompt": "hello"})");
    return reply ? reply->status : 0;
  };
  EXPECT_EQ(status("sk-alice"), 200);
  EXPECT_EQ(status("sk-alice"), 200);
  EXPECT_EQ(status("sk-alice"), 429);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(status("sk-bob"), 200);
  EXPECT_EQ(status("sk-eve"), 401);
}

}  // namespace
}  // namespace slipstream::e2e
