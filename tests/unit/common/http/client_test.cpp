#include "common/http/client.h"

#include <filesystem>

#include "tests/unit/common/http/echo_server.h"

namespace slipstream::http {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class HttpClient : public EchoServer {
 protected:
  static constexpr std::chrono::milliseconds kPatience{20'000};
  Client ask() { return Client("127.0.0.1", port(), kPatience); }
};

TEST_F(HttpClient, GetsAndPosts) {
  start();
  Client client = ask();
  const auto got = client.get("/a?b=c");
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->status, 200);
  EXPECT_EQ(got->body, "GET /a?b=c  ");
  const auto posted = client.post("/p", R"({"x":1})");
  ASSERT_TRUE(posted) << posted.error().message;
  EXPECT_EQ(posted->body, R"(POST /p? application/json {"x":1})");
  EXPECT_EQ(server_->counters().connections, 1u);  // one connection for both
}

TEST_F(HttpClient, SpeaksIpv6) {
  if (!std::filesystem::exists("/proc/net/if_inet6")) GTEST_SKIP() << "this machine has no IPv6";
  const auto answer = [](const Request& request, Exchange exchange) { exchange.send({.body = request.path}); };
  const auto server = Server::listen("::1", 0, answer, plain_error);
  ASSERT_TRUE(server) << server.error().message;
  EXPECT_EQ(Client("::1", server->port(), kPatience).get("/six")->body, "/six");
  EXPECT_FALSE(Client("127.0.0.1", server->port(), kPatience).get("/four"))
      << "it listens at the one address that it was given";
  const auto every = Server::listen("::", 0, answer, plain_error);
  ASSERT_TRUE(every) << every.error().message;
  for (const char* host : {"::1", "127.0.0.1"}) EXPECT_TRUE(Client(host, every->port(), kPatience).get("/")) << host;
}

TEST_F(HttpClient, GivesErrorAnswersAsReplies) {
  start();
  const auto reply = ask().get("/dropped");
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 500);
}

TEST_F(HttpClient, ReadsEventsAsTheyCome) {
  start();
  std::vector<std::string> events;
  Happening seen;
  Result<Reply> reply;
  std::thread asking([&] {
    reply = ask().post_stream("/held", "{}", [&](std::string_view data) {
      events.emplace_back(data);
      seen.happen();
      return true;
    });
  });
  Exchange exchange = held();
  exchange.begin_stream("text/event-stream");
  exchange.write(": a comment\n\ndata: one\n\n");
  EXPECT_TRUE(seen.wait(1));  // it is there before the next one is written
  exchange.write("data: two\r\ndata: lines\r\n\r\nda");
  EXPECT_TRUE(seen.wait(2));
  exchange.write("ta: [DONE]\n\n");
  exchange.end();
  asking.join();
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->status, 200);
  EXPECT_THAT(reply->body, testing::IsEmpty());
  EXPECT_THAT(events, ElementsAre("one", "two\nlines", "[DONE]"));
}

TEST_F(HttpClient, LeavesAStreamThatItHasEnoughOf) {
  start();
  Happening left;
  Result<Reply> reply;
  Client client = ask();
  std::thread asking([&] { reply = client.post_stream("/held", "{}", [](std::string_view) { return false; }); });
  Exchange exchange = held();
  exchange.on_gone([&] { left.happen(); });
  exchange.begin_stream("text/event-stream");
  exchange.write("data: one\n\n");
  EXPECT_TRUE(left.wait());
  asking.join();
  EXPECT_TRUE(reply);
  EXPECT_TRUE(client.get("/again"));
}

TEST_F(HttpClient, GivesTheBodyOfAStreamThatWasRefused) {
  start();
  Result<Reply> reply;
  std::thread asking([&] {
    reply = ask().post_stream("/held", "{}", [](std::string_view) {
      ADD_FAILURE() << "an error body is no event";
      return true;
    });
  });
  held().send({.status = 400, .body = "data: no\n\n"});
  asking.join();
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 400);
  EXPECT_EQ(reply->body, "data: no\n\n");
}

TEST_F(HttpClient, SaysThatAStreamWasCut) {
  start();
  Result<Reply> reply;
  std::thread asking([&] { reply = ask().post_stream("/held", "{}", [](std::string_view) { return true; }); });
  Exchange exchange = held();
  exchange.begin_stream("text/event-stream");
  exchange.write("data: one\n\n");
  exchange.abort();
  asking.join();
  ASSERT_FALSE(reply);
  EXPECT_THAT(reply.error().message, HasSubstr("127.0.0.1"));
}

TEST_F(HttpClient, TellsWhenARefusedRequestMayComeBack) {
  start();
  Result<Reply> reply;
  std::thread asking([&] { reply = ask().post("/held", "{}"); });
  held().send({.status = 429, .headers = {{"Retry-After", "7"}}});
  asking.join();
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->retry_after, "7");
  EXPECT_EQ(ask().get("/")->retry_after, "");
}

TEST_F(HttpClient, LeavesACallThatAnotherThreadCancels) {
  start();
  Client client = ask();
  Result<Reply> reply;
  std::thread asking([&] { reply = client.post_stream("/held", "{}", [](std::string_view) { return true; }); });
  Exchange exchange = held();  // the client waits for an answer that does not come
  client.cancel();
  asking.join();
  ASSERT_FALSE(reply);
  EXPECT_THAT(reply.error().message, HasSubstr("was cancelled"));
  EXPECT_THAT(client.get("/").error().message, HasSubstr("was cancelled")) << "and so is each later one";
}

TEST_F(HttpClient, ConnectsAnewWhenTheServerHadClosed) {
  start({.idle = std::chrono::milliseconds(20)});
  Client client = ask();
  ASSERT_TRUE(client.get("/one"));
  ASSERT_TRUE(eventually([](const ServerCounters& counters) { return counters.connections == 0; }));
  const auto again = client.post("/two", "{}");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->body, "POST /two? application/json {}");
}

TEST_F(HttpClient, SaysThatNobodyListens) {
  start();
  Client client = ask();
  server_.reset();
  const auto reply = client.get("/");
  ASSERT_FALSE(reply);
  EXPECT_THAT(reply.error().message, HasSubstr("nobody listens on 127.0.0.1:"));
}

TEST_F(HttpClient, GivesUpAfterItsTimeout) {
  start();
  Client client("127.0.0.1", port(), std::chrono::milliseconds(50));
  const auto reply = client.get("/held");
  ASSERT_FALSE(reply);
  EXPECT_THAT(reply.error().message, HasSubstr("did not answer within 50 ms"));
}

}  // namespace
}  // namespace slipstream::http
