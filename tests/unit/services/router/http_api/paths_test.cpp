// The API's paths: which there are, in which forms clients may write them, and what they answer.
#include "services/router/http_api/paths.h"
#include "common/http/stuck_status.h"
#include "tests/unit/common/http/wire_client.h"
#include "tests/unit/services/router/http_api/front.h"

namespace slipstream {
namespace {

using HttpApiPaths = HttpApiTest;

TEST_F(HttpApiPaths, ListsEveryNameOfTheModel) {
  const auto list = json::parse(get("/v1/models").body)["data"];
  ASSERT_EQ(list.size(), 2);
  EXPECT_EQ(list[0]["id"], "demo");
  EXPECT_EQ(list[1]["id"], "alias");
  EXPECT_EQ(get("/v1/models/demo").status, 200);
  EXPECT_EQ(get("/v1/models/alias").status, 200);
}

TEST_F(HttpApiPaths, SaysHowLongARequestMayBeHereAndNow) {
  const auto told = [&] { return json::parse(get("/v1/models").body)["data"][0]["max_model_len"]; };
  EXPECT_EQ(told(), 512) << "no verifier has said less";
  context_max = 64;
  EXPECT_EQ(told(), 64);
  const auto reply = post(fmt::format(R"({{"messages":[{{"role":"user","content":"{}"}}]}})", std::string(10'000, 'x'))).get();
  EXPECT_EQ(reply.status, 400);
  EXPECT_THAT(json::parse(reply.body)["error"]["message"].get<std::string>(),
              testing::StartsWith("This model's maximum context length is 64 tokens."));
}

TEST(Unescaped, ReadsEscapesAndLeavesTheRest) {
  EXPECT_EQ(unescaped("Qwen%2FQwen3%2d0.6B"), "Qwen/Qwen3-0.6B");
  for (const auto* plain : {"demo", "100%", "%zz", "%2", ""}) EXPECT_EQ(unescaped(plain), plain);
}

TEST_F(HttpApiPaths, TakesPathsWithoutTheVersionAndWithASlashAtTheEnd) {
  for (const auto* path : {"/models", "/models/", "/v1/models/", "/models/demo"}) EXPECT_EQ(get(path).status, 200) << path;
  EXPECT_EQ(get("/chat/completions").status, 405);
  EXPECT_EQ(get("/completions").status, 405);
  EXPECT_EQ(get("/version").status, 200);
  EXPECT_EQ(get("/tuning").status, 200);
  EXPECT_EQ(get("/v1/v1/models").status, 404);
}

TEST(ContentEncoding, IsPlainIfThereIsNone) {
  for (const auto* plain : {"", "identity", "Identity"}) EXPECT_TRUE(is_plain(plain)) << plain;
  for (const auto* coded : {"gzip", "identity, gzip", "br"}) EXPECT_FALSE(is_plain(coded)) << coded;
}

TEST_F(HttpApiPaths, RefusesABodyThatAPageOfAnotherOriginCouldSend) {
  for (const auto* type : {"", "Content-Type: text/plain\r\n", "Content-Type: application/x-www-form-urlencoded\r\n"}) {
    WireClient client(server.port());
    const std::string body = ask();
    client.send(fmt::format("POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n{}Content-Length: {}\r\n\r\n{}", type,
                            body.size(), body));
    EXPECT_THAT(client.until("\"}}"), testing::AllOf(testing::StartsWith("HTTP/1.1 415"), HasSubstr("application/json")))
        << type;
  }
  for (const auto* type : {"application/json;charset=UTF-8", "Application/JSON ; x=y"}) {
    WireClient client(server.port());
    client.send(
        fmt::format("POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: {}\r\nContent-Length: 1\r\n\r\n{{", type));
    EXPECT_THAT(client.until("\"}}"), HasSubstr("invalid_json")) << type;
  }
}

TEST_F(HttpApiPaths, IsHealthyBeforeItHasAVerifierAndReadyOnlyWithOne) {
  EXPECT_EQ(get("/health").status, 200);
  const auto unready = get("/ready");
  EXPECT_EQ(unready.status, 503);
  EXPECT_THAT(unready.body, HasSubstr("No verifier"));
  verifiers = 1;
  EXPECT_EQ(get("/ready").status, 200);
}

TEST_F(HttpApiPaths, IsNotHealthyWhileItsLoopHangs) {
  stuck = "the event loop has not turned for 12.0 s";
  EXPECT_EQ(get("/health").status, http::kStuckStatus);
  EXPECT_EQ(json::parse(get("/health").body)["status"], stuck);
}

TEST_F(HttpApiPaths, ShowsAPageWithALineToPaste) {
  api.listens_at(fmt::format("http://127.0.0.1:{}", server.port()));
  const auto page = get("/").body;
  EXPECT_THAT(page, HasSubstr("demo"));
  EXPECT_THAT(page, HasSubstr(fmt::format("curl -N http://127.0.0.1:{}/v1/chat/completions", server.port())));
}

TEST_F(HttpApiPaths, AnswersAProbeThatAsksForTheHeadOnly) {
  WireClient probe(server.port());
  probe.send("HEAD /health HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(probe.until("\r\n\r\n"), testing::StartsWith("HTTP/1.1 200"));
  probe.send("HEAD /v1/chat/completions HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(probe.until("\r\n\r\n"), testing::StartsWith("HTTP/1.1 405"));
}

TEST(Paths, OfOllamaNameTheirFlagWhereTheyAreOff) {
  EXPECT_EQ(unknown_path("/api/chat", false).message,
            "There is no /api/chat: Ollama's API is off; start `slipstream serve`, or a router by itself, with --ollama.");
  EXPECT_EQ(unknown_path("/api/pull", true).message,
            "There is no /api/pull: see /v1/chat/completions, /v1/completions, /v1/models or the page at /.");
  EXPECT_EQ(unknown_path("/apiary", false).message, unknown_path("/apiary", true).message);
}

}  // namespace
}  // namespace slipstream
