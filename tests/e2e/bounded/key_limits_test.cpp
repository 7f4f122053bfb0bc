// An API key that is over its limits gets 429, and one without limits goes on.
#include <fstream>

#include <fmt/format.h>
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

// An answer is under way from its request to its last token, or until its client leaves.
TEST(KeyLimits, CountAnAnswerWhileItIsGenerated) {
  Cluster cluster(tiny_model_with_room());
  const auto file = cluster.folder() / "api-keys";
  std::ofstream(file) << "alice sk-alice concurrent=1\nsk-bob\n";
  cluster.start_router({"--api-key-file", file.string()});
  cluster.start_verifier({"--threads", "1"});
  cluster.wait_ports("verifier");
  cluster.wait_ready();
  const auto client = [&](const char* key) {
    http::Client client = cluster.client();
    client.set_api_key(key);
    return client;
  };
  const auto fields = [](int tokens, bool stream) {
    return fmt::format(R"({{"prompt":"hello","max_tokens":{},"ignore_eos":true,"stream":{}}})", tokens, stream);
  };
  const auto status = [&](const char* key) {
    const auto reply = client(key).post("/v1/completions", fields(4, false));
    return reply ? reply->status : 0;
  };
  int events = 0;
  const auto whole = client("sk-alice").post_stream("/v1/completions", fields(kLongAnswer, true), [&](std::string_view) {
    if (++events > 1) return true;
    EXPECT_EQ(status("sk-alice"), 429) << "her answer is being generated";
    EXPECT_EQ(status("sk-bob"), 200);
    return true;
  });
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_EQ(whole->status, 200);
  EXPECT_GT(events, 1);
  EXPECT_EQ(status("sk-alice"), 200);

  (void)client("sk-alice").post_stream("/v1/completions", fields(kLongAnswer, true), [&](std::string_view) { return false; });
  cluster.wait("her place to be free again", [&] { return status("sk-alice") == 200; });
}

}  // namespace
}  // namespace slipstream::e2e
