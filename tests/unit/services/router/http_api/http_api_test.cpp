#include "services/router/http_api/http_api.h"

#include "tests/unit/common/http/wire_client.h"
#include "tests/unit/services/router/http_api/front.h"

namespace slipstream {
namespace {

TEST_F(HttpApiTest, SubmitsWhatTheRequestAsksFor) {
  auto reply = post(ask(R"("temperature":0,"seed":-1,"max_completion_tokens":5,"speculation":{"enabled":false})"));
  const auto submit = inbox.take<Submit>();
  EXPECT_FALSE(submit.prompt.empty());
  EXPECT_EQ(submit.spec.sampling.temperature, 0);
  EXPECT_EQ(submit.spec.seed, std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(submit.spec.output_max, 5);
  EXPECT_EQ(submit.spec.stop_ids, std::vector<TokenId>{kEnd});
  EXPECT_FALSE(submit.speculation.enabled);
  deliver(submit.request, "<|im_end|>", Finish::stop);
  EXPECT_EQ(reply.get().status, 200);
}

TEST_F(HttpApiTest, LeavesTheEosIdsOutIfTheyAreToBeIgnored) {
  auto reply = post(ask(R"("ignore_eos":true)"));
  const auto submit = inbox.take<Submit>();
  EXPECT_TRUE(submit.spec.stop_ids.empty());
  deliver(submit.request, "x", Finish::length);
  EXPECT_EQ(json::parse(reply.get().body)["choices"][0]["finish_reason"], "length");
}

TEST_F(HttpApiTest, AnswersWholeWithUsageAndMetrics) {
  auto reply = post(ask());
  const auto submit = inbox.take<Submit>();
  deliver(submit.request, "Hello, ");
  deliver(submit.request, "world!<|im_end|>", Finish::stop);
  const auto body = json::parse(reply.get().body);
  EXPECT_EQ(body["object"], "chat.completion");
  EXPECT_EQ(body["model"], "demo");
  EXPECT_TRUE(body["id"].get<std::string>().starts_with("chatcmpl-"));
  EXPECT_EQ(body["choices"][0]["message"]["content"], "Hello, world!");
  EXPECT_EQ(body["choices"][0]["finish_reason"], "stop");
  EXPECT_EQ(body["usage"]["prompt_tokens"], submit.prompt.size());
  EXPECT_EQ(body["usage"]["total_tokens"], submit.prompt.size() + body["usage"]["completion_tokens"].get<size_t>());
  EXPECT_EQ(body["usage"]["completion_tokens_details"]["accepted_prediction_tokens"], 2);
  EXPECT_EQ(body["usage"]["completion_tokens_details"]["rejected_prediction_tokens"], 2) << "of the four that were judged";
  EXPECT_EQ(body["usage"]["prompt_tokens_details"]["cached_tokens"], std::min<size_t>(32, submit.prompt.size()));
  EXPECT_EQ(body["metrics"]["speculative_decoding"]["mean_acceptance_length"], 2.5);
  EXPECT_EQ(body["metrics"]["speculative_decoding"]["draft_acceptance_rate"], 0.75);
  EXPECT_EQ(body["metrics"]["speculative_decoding"]["num_spec_tokens"], 8);
  EXPECT_EQ(body["metrics"]["speculative_decoding"]["acceptance_histogram"], json::parse("[0, 1, 1, 0, 0, 0, 0, 0, 0]"));
  EXPECT_EQ(body["metrics"]["speculative_decoding"]["acceptance_histogram_by_draft_length"],
            json::parse(R"({"2": [0, 1, 1]})"));
  EXPECT_EQ(body["slipstream"]["seed"], submit.spec.seed);
  EXPECT_FALSE(body["slipstream"].contains("token_ids"));
}

TEST_F(HttpApiTest, StreamsRoleTextFinishUsageAndDone) {
  auto streamed = stream(ask(R"("stream":true,"stream_options":{"include_usage":true})"));
  const auto submit = inbox.take<Submit>();
  deliver(submit.request, "Hello");
  deliver(submit.request, " you<|im_end|>", Finish::stop);
  const auto got = streamed.get();
  ASSERT_EQ(got.events.size(), 6);
  EXPECT_EQ(got[0]["choices"][0]["delta"]["role"], "assistant");
  EXPECT_EQ(got[1]["choices"][0]["delta"]["content"], "Hello");
  EXPECT_TRUE(got[1]["usage"].is_null());
  EXPECT_EQ(got[2]["choices"][0]["delta"]["content"], " you");
  EXPECT_EQ(got[3]["choices"][0]["finish_reason"], "stop");
  EXPECT_TRUE(got[4]["choices"].empty());
  EXPECT_GT(got[4]["usage"]["completion_tokens"], 0);
  EXPECT_EQ(got[4]["metrics"]["speculative_decoding"]["num_draft_tokens"], 4);
  EXPECT_EQ(got.events[5], "[DONE]");
}

TEST_F(HttpApiTest, HasACodeAndTheShapeOfItsPathForWhatTheServerRefuses) {
  const auto error = [](int status, std::string_view path) {
    return json::parse(HttpApi::error_body(status, "why", path).body)["error"];
  };
  EXPECT_EQ(error(400, "")["code"], "malformed_request");
  EXPECT_EQ(error(408, "/v1/responses")["code"], "request_timeout");
  EXPECT_EQ(error(408, "/v1/responses")["type"], "timeout_error");
  EXPECT_EQ(error(413, "/v1/chat/completions")["code"], "body_too_large");
  EXPECT_EQ(error(417, "/v1/responses")["code"], "expectation_failed");
  EXPECT_EQ(error(431, "/")["code"], "header_too_large");
  EXPECT_EQ(error(503, "/")["code"], "server_busy");
  EXPECT_EQ(error(413, "/v1/messages/")["type"], "request_too_large");
  EXPECT_EQ(error(408, "/v1/messages")["type"], "timeout_error");
  EXPECT_EQ(error(431, "/v1/messages/count_tokens")["type"], "invalid_request_error");
  for (const int status : {408, 413, 431, 503}) EXPECT_FALSE(error(status, "/v1/messages").contains("code")) << status;
  EXPECT_FALSE(error(413, "/v1/messages").contains("code"));
  EXPECT_EQ(error(413, "/api/chat"), "why");
}

TEST_F(HttpApiTest, SaysInAStreamsLastChunkWhichRuleRanWithUsageOrWithout) {
  for (const std::string usage : {"", R"(,"stream_options":{"include_usage":true})"}) {
    auto streamed = stream(ask(R"("stream":true)" + usage));
    deliver(inbox.take<Submit>().request, "Hello<|im_end|>", Finish::stop);
    const auto got = streamed.get();
    const auto& last = got[got.events.size() - 2];  // before [DONE]
    EXPECT_EQ(last["slipstream"]["speculation"]["rule"], "greedy") << last;
    EXPECT_EQ(last.contains("metrics"), !usage.empty());
  }
}

TEST_F(HttpApiTest, TellsTokensAndWhoGuessedThemOnlyWhenAsked) {
  auto streamed = stream(ask(R"("stream":true,"slipstream":{"tokens":true})"));
  const auto submit = inbox.take<Submit>();
  deliver(submit.request, "Hello<|im_end|>", Finish::stop);
  const auto got = streamed.get();
  const auto facts = got[1]["slipstream"];
  EXPECT_EQ(facts["token_ids"].get<std::vector<TokenId>>(), tokenizer().encode("Hello<|im_end|>", true).value());
  EXPECT_EQ(facts["drafted"].size(), facts["token_ids"].size());
  EXPECT_EQ(facts["depths"], json(std::vector<int>(facts["token_ids"].size(), 2)));
  std::string text;
  for (const auto& piece : facts["pieces"]) text += piece.get<std::string>();
  EXPECT_EQ(text, "Hello");
}

TEST_F(HttpApiTest, TellsWithItsTokensWhatABiasedAnswerHasSpentSoFar) {
  auto streamed = stream(ask(R"("stream":true,"slipstream":{"tokens":true})"));
  const auto ids = tokenizer().encode("Hello", true).value();
  Delivery delivery{.request = inbox.take<Submit>().request,
                    .ids = ids,
                    .drafted = std::vector<uint8_t>(ids.size()),
                    .depths = std::vector<uint8_t>(ids.size()),
                    .rule = {.ran = {.rule = Rule::pareto}}};
  api.deliver(delivery);
  delivery.report.spent = 0.25F;
  delivery.finish = Finish::stop;
  api.deliver(delivery);
  const auto got = streamed.get();
  EXPECT_EQ(got[1]["slipstream"]["bias_spent"], 0.0);
  EXPECT_EQ(got[2]["slipstream"]["bias_spent"], 0.25);
}

TEST_F(HttpApiTest, CutsAtAStopStringAndAbandonsTheRest) {
  auto reply = post(ask(R"("stop":[", wor"])"));
  const auto submit = inbox.take<Submit>();
  deliver(submit.request, "Hello, world! And");
  const auto body = json::parse(reply.get().body);
  EXPECT_EQ(body["choices"][0]["message"]["content"], "Hello");
  EXPECT_EQ(body["choices"][0]["finish_reason"], "stop");
  EXPECT_EQ(body["usage"]["completion_tokens_details"]["accepted_prediction_tokens"], 1) << "two are behind the end";
  const auto abandon = inbox.take<Abandon>();
  EXPECT_EQ(abandon.request, submit.request);
  EXPECT_EQ(abandon.why, Abandon::Why::stop_string);
}

TEST_F(HttpApiTest, AnswersAFailureBeforeTheFirstTokenWithItsStatus) {
  auto reply = post(ask(R"("stream":true)"));
  const auto submit = inbox.take<Submit>();
  api.fail({.request = submit.request, .status = 503, .code = "no_verifier", .message = "nobody", .retry_after_s = 5});
  const auto got = reply.get();
  EXPECT_EQ(got.status, 503);
  EXPECT_EQ(json::parse(got.body)["error"]["code"], "no_verifier");
}

TEST_F(HttpApiTest, EndsAStreamThatFailsMidwayWithAnErrorAndNoDone) {
  auto streamed = stream(ask(R"("stream":true)"));
  const auto submit = inbox.take<Submit>();
  deliver(submit.request, "Hello");
  api.fail({.request = submit.request, .status = 503, .code = "no_verifier", .message = "lost"});
  const auto got = streamed.get();
  EXPECT_EQ(json::parse(got.events.back())["error"]["message"], "lost");
}

// Subjects that share this stage.
using ClientLoss = HttpApiTest;

TEST_F(ClientLoss, AbandonsTheRequest) {
  const auto request = ask(R"("stream":true)");
  auto client = std::async(std::launch::async, [&] {
    http::Client("127.0.0.1", server.port(), kPatience).post_stream("/v1/chat/completions", request, [](auto) {
      return false;
    });
  });
  const auto submit = inbox.take<Submit>();
  deliver(submit.request, "Hello");  // the client reads one event and hangs up
  EXPECT_EQ(inbox.take<Abandon>().request, submit.request);
}

// Subjects that share this stage.
using RequestPriority = HttpApiTest;

TEST_F(RequestPriority, IsSubmittedAndTheTierIsToldWithTheAnswer) {
  auto reply = post(ask(R"("service_tier":"priority")"));
  const auto submit = inbox.take<Submit>();
  EXPECT_EQ(submit.priority, -100);
  deliver(submit.request, "Hello<|im_end|>", Finish::stop);
  EXPECT_EQ(json::parse(reply.get().body)["service_tier"], "priority");
}

TEST_F(RequestPriority, IsTheUsualOneForAKeyThatMayNotGoFirst) {
  may_go_first = false;
  auto reply = post(ask(R"("service_tier":"priority")"));
  const auto submit = inbox.take<Submit>();
  EXPECT_EQ(submit.priority, 0);
  deliver(submit.request, "Hello<|im_end|>", Finish::stop);
  const auto body = json::parse(reply.get().body);
  EXPECT_EQ(body["service_tier"], "default");
  EXPECT_THAT(body["slipstream"]["warnings"][0].get<std::string>(), HasSubstr("priority 0"));
}

TEST_F(HttpApiTest, SubmitsTheOtherChoicesOfAnAnswerAsOnesThatHaveBegun) {
  auto reply = post(ask(R"("n":2)"));
  const auto first = inbox.take<Submit>();
  EXPECT_FALSE(first.answer_begun);
  deliver(first.request, "Hello<|im_end|>", Finish::stop);
  const auto second = inbox.take<Submit>();
  EXPECT_TRUE(second.answer_begun);
  deliver(second.request, "Hello<|im_end|>", Finish::stop);
  EXPECT_EQ(reply.get().status, 200);
}

TEST_F(HttpApiTest, SaysTooManyWhenTheInboxIsFull) {
  inbox.fill();
  const auto reply = post(ask()).get();
  EXPECT_EQ(reply.status, 429);
  EXPECT_EQ(json::parse(reply.body)["error"]["code"], "queue_full");
}

TEST_F(HttpApiTest, AnswersOthersWhileAChatIsTokenised) {
  Held held(text);
  auto reply = post(ask());
  awaits_chat();
  EXPECT_EQ(get("/health").status, 200);
  held.release();
  deliver(inbox.take<Submit>().request, "Hello<|im_end|>", Finish::stop);
  EXPECT_EQ(reply.get().status, 200);
}

TEST_F(HttpApiTest, SaysTooManyWhenNoMoreChatsMayWaitToBeTokenised) {
  Held held(text);
  auto first = post(ask()), second = post(ask());
  awaits_chat();
  awaits_chat();
  const auto third = post(ask()).get();
  EXPECT_EQ(third.status, 429);
  EXPECT_EQ(json::parse(third.body)["error"]["code"], "queue_full");
  held.release();
  for (int chat = 0; chat < 2; ++chat) deliver(inbox.take<Submit>().request, "Hello<|im_end|>", Finish::stop);
  EXPECT_EQ(first.get().status, 200);
  EXPECT_EQ(second.get().status, 200);
}

TEST_F(ClientLoss, AbandonsAChatThatIsNotTokenisedYet) {
  Held held(text);
  WireClient client(server.port());
  const std::string body = ask();
  client.send(fmt::format("{}Content-Length: {}\r\n\r\n{}", kPostHead, body.size(), body));
  awaits_chat();
  client.reset();
  held.release();
  const auto submit = inbox.take<Submit>();
  EXPECT_EQ(inbox.take<Abandon>().request, submit.request);
}

TEST_F(HttpApiTest, RefusesMoreTextThanAnyContextHolds) {
  const auto reply =
      post(fmt::format(R"({{"messages":[{{"role":"user","content":"{}"}}]}})", std::string(1'000'000, 'x'))).get();
  EXPECT_EQ(reply.status, 400);
  EXPECT_EQ(json::parse(reply.body)["error"]["code"], "context_length_exceeded");
}

TEST_F(HttpApiTest, ShapesEveryErrorAsOpenAiDoes) {
  for (const auto& reply : {get("/nowhere"), get("/v1/chat/completions"), get("/v1/models/gpt-4"), post("{").get()}) {
    const auto error = json::parse(reply.body)["error"];
    EXPECT_GE(reply.status, 400);
    for (const char* key : {"message", "type", "param", "code"}) EXPECT_TRUE(error.contains(key)) << reply.body;
  }
  EXPECT_EQ(get("/nowhere").status, 404);
  EXPECT_EQ(get("/v1/chat/completions").status, 405);
}

TEST_F(HttpApiTest, SaysBackTheTwoEndsOfWhatIsLong) {
  const std::string name(100'000, 'x');
  for (const std::string& speculation : {R"({"rule":")" + name + R"("})", R"({")" + name + R"(":1})"}) {
    const auto reply = post(ask(R"("speculation":)" + speculation)).get();
    EXPECT_EQ(reply.status, 400);
    EXPECT_LT(reply.body.size(), 3 * kErrorTextMost);
    const auto message = json::parse(reply.body)["error"]["message"].get<std::string>();
    EXPECT_TRUE(message.contains("xxx [...] ")) << message;
    EXPECT_TRUE(message.contains("unknown")) << message;
  }
}

TEST_F(HttpApiTest, CountsWhatItAnsweredWithAnErrorByCode) {
  const auto count = [&](std::string_view code) {
    return api.errors().at(static_cast<size_t>(std::ranges::find(kErrorCodes, code) - kErrorCodes.begin()));
  };
  post("{").get();
  post(ask(R"("best_of":2)")).get();
  post(ask(R"("temperature":9)")).get();
  post(ask(R"("allowed_token_ids":[300])")).get();
  get("/nowhere");
  get("/v1/models/gpt-4");
  get("/ready");
  auto reply = post(ask());
  api.fail({.request = inbox.take<Submit>().request, .status = 503, .code = "no_verifier", .message = "none"});
  EXPECT_EQ(reply.get().status, 503);
  EXPECT_EQ(count("invalid_json"), 1U);
  EXPECT_EQ(count("unsupported_parameter"), 1U);
  EXPECT_EQ(count("invalid_value"), 2U);
  EXPECT_EQ(count("unknown_path"), 1U);
  EXPECT_EQ(count("model_not_found"), 1U);
  EXPECT_EQ(count("no_verifier"), 1U) << "a probe of /ready is no request";
  EXPECT_EQ(count("other"), 0U);
  auto stranger = post(ask());
  api.fail({.request = inbox.take<Submit>().request, .code = "something new", .message = "new"});
  EXPECT_EQ(stranger.get().status, 500);
  EXPECT_EQ(count("other"), 1U);
}

TEST_F(HttpApiTest, RefusesWhatMayNotPassBeforeItLooksAtIt) {
  refusal = {.status = 401, .message = "No API key.", .code = "invalid_api_key"};
  for (const auto& reply : {get("/v1/models"), get("/nowhere"), post("{").get()}) {
    EXPECT_EQ(reply.status, 401);
    const auto error = json::parse(reply.body)["error"];
    EXPECT_EQ(error["type"], "invalid_request_error");
    EXPECT_EQ(error["code"], "invalid_api_key");
    EXPECT_TRUE(error["param"].is_null());
  }
  const auto code = std::ranges::find(kErrorCodes, "invalid_api_key") - kErrorCodes.begin();
  EXPECT_EQ(api.errors().at(static_cast<size_t>(code)), 3U);
  const auto response = error_response(*refusal);
  EXPECT_EQ(response.headers.at(0), (std::pair<std::string, std::string>("WWW-Authenticate", "Bearer")));
}

TEST_F(HttpApiTest, SaysHowManyTokensWereNearTiesAndThatAReplayMayDiffer) {
  auto reply = post(ask(R"("speculation":{"enabled":false})"));
  api.deliver(
      {.request = inbox.take<Submit>().request, .finish = Finish::length, .report = {.near_ties = 3}, .may_differ = true});
  EXPECT_EQ(json::parse(reply.get().body)["slipstream"]["speculation"],
            (json{{"rule", "off"}, {"near_ties", 3}, {"may_differ", true}}));
}

TEST_F(HttpApiTest, SaysWhichRuleRanAndWhyItIsNotTheOneAskedFor) {
  const auto told = [&](const Acceptance& asked, const RuleChoice& rule) {
    auto reply = post(ask());
    api.deliver({.request = inbox.take<Submit>().request, .finish = Finish::length, .asked = asked, .rule = rule});
    return json::parse(reply.get().body)["slipstream"]["speculation"];
  };
  const Acceptance coupled{.rule = Rule::coupled}, ratio{.rule = Rule::ratio}, greedy{};
  EXPECT_EQ(told(coupled, {coupled, RuleReason::no_drafter_of_that_method}),
            (json{{"rule", "coupled"}, {"reason", "no_drafter_of_that_method"}}));
  auto plain = post(ask(R"("speculation":{"enabled":false})"));
  deliver(inbox.take<Submit>().request, "x", Finish::length);
  EXPECT_EQ(json::parse(plain.get().body)["slipstream"]["speculation"], (json{{"rule", "off"}}));
  EXPECT_EQ(told(coupled, {coupled}), (json{{"rule", "coupled"}}));
  EXPECT_EQ(told(coupled, {greedy, RuleReason::temperature_zero}), (json{{"rule", "greedy"}})) << "nothing else was asked for";
  EXPECT_EQ(told(ratio, {ratio}), (json{{"rule", "ratio"}}));
  EXPECT_EQ(told(ratio, {coupled, RuleReason::no_trusted_drafter}),
            (json{{"rule", "coupled"}, {"asked", "ratio"}, {"reason", "no_trusted_drafter"}}));
  EXPECT_EQ(told(ratio, {greedy, RuleReason::temperature_zero}),
            (json{{"rule", "greedy"}, {"asked", "ratio"}, {"reason", "temperature_zero"}}));
}

TEST_F(HttpApiTest, BeginsAStreamBeforeItsFirstTokenAndKeepsItAwake) {
  WireClient client(server.port());
  const std::string body = ask(R"("stream":true)");
  client.send(fmt::format("{}Content-Length: {}\r\n\r\n{}", kPostHead, body.size(), body));
  const auto submit = inbox.take<Submit>();
  api.still_here(submit.request);
  EXPECT_THAT(client.until("\n\n"), testing::AllOf(testing::StartsWith("HTTP/1.1 200"), HasSubstr("text/event-stream")));
  api.still_here(submit.request);
  deliver(submit.request, "Hello<|im_end|>", Finish::stop);
  const std::string rest = client.until("[DONE]");
  EXPECT_THAT(rest, HasSubstr("\n: "));
  EXPECT_THAT(rest, HasSubstr(R"("role":"assistant")"));
}

TEST_F(HttpApiTest, SendsNothingEarlyOfAWholeAnswer) {
  auto reply = post(ask());
  const auto submit = inbox.take<Submit>();
  api.still_here(submit.request);
  api.fail({.request = submit.request, .status = 503, .code = "no_verifier", .message = "nobody"});
  EXPECT_EQ(reply.get().status, 503);
}

TEST_F(HttpApiTest, TellsWarningsOnceWithTheAnswersEnd) {
  auto reply = post(ask(R"("temprature":0)"));
  deliver(inbox.take<Submit>().request, "x", Finish::length);
  const auto whole = json::parse(reply.get().body)["slipstream"]["warnings"];
  ASSERT_EQ(whole.size(), 1);
  EXPECT_THAT(whole[0].get<std::string>(), HasSubstr("`temprature`"));
  auto streamed = stream(ask(R"("temprature":0,"stream":true,"stream_options":{"include_usage":true})"));
  deliver(inbox.take<Submit>().request, "x", Finish::length);
  const auto got = streamed.get();
  int told = 0;
  for (const auto& event : got.events) told += event.contains("temprature") ? 1 : 0;
  EXPECT_EQ(told, 1);
}

}  // namespace
}  // namespace slipstream
