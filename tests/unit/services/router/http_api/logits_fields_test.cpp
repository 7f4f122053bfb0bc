#include "services/router/http_api/logits_fields.h"

#include "tests/unit/services/router/http_api/front.h"

namespace slipstream {
namespace {

TEST_F(HttpApiTest, SubmitsWhatIsToBeDoneToLogits) {
  auto reply = post(ask(R"("min_tokens":2,"logit_bias":{"299":3},"bad_words":["Hello"],"logprobs":true,"top_logprobs":4)"));
  const auto submit = inbox.take<Submit>();
  EXPECT_EQ(submit.spec.logits_params.stop_ids, std::vector<TokenId>{kEnd});
  EXPECT_EQ(submit.spec.logits_params.bias, (std::vector<LogitBias>{{299, 3}}));
  const auto word = [&](std::string_view text) { return tokenizer().encode(text, false).value(); };
  EXPECT_EQ(submit.spec.logits_params.bad_words, (std::vector{word("Hello"), word(" Hello")}));
  EXPECT_EQ(submit.spec.top_logprobs, 4);
  deliver(submit.request, "", Finish::length);
  EXPECT_EQ(reply.get().status, 200);
}

TEST_F(HttpApiTest, RefusesAdjustmentsThatTheModelCannotHave) {
  for (const auto& [fields, words] :
       {std::pair{R"("logit_bias":{"300":1})", "tokens are 0 to 299"},
        {R"("allowed_token_ids":[1,300])", "tokens are 0 to 299"},
        {R"("allowed_token_ids":[2],"min_tokens":1)", "no token is left"},
        {R"("allowed_token_ids":[2],"min_tokens":1)", "`allowed_token_ids` and `min_tokens` forbid every one"},
        {R"("bad_words":["Hello, world! Hello, world! Hello, world! Hello, world!"])", "the limit is 16"}}) {
    const auto reply = post(ask(fields)).get();
    EXPECT_EQ(reply.status, 400) << fields;
    EXPECT_THAT(json::parse(reply.body)["error"]["message"].get<std::string>(), HasSubstr(words));
  }
}

TEST_F(HttpApiTest, RefusesMasksThatLeaveNoTokenToBeginWith) {
  const auto one = tokenizer().encode("x", false).value();
  ASSERT_EQ(one.size(), 1U);
  const auto reply = post(ask(fmt::format(R"("allowed_token_ids":[{}],"bad_words":["x"])", one[0]))).get();
  EXPECT_EQ(reply.status, 400);
  EXPECT_EQ(json::parse(reply.body)["error"]["param"], "allowed_token_ids");
  auto other = post(ask(fmt::format(R"("allowed_token_ids":[{},{}],"bad_words":["x"])", one[0], kEnd)));
  deliver(inbox.take<Submit>().request, "", Finish::stop);
  EXPECT_EQ(other.get().status, 200) << "the end token is left";
}

TEST_F(HttpApiTest, LetsNoStopStringBeginWithinMinTokens) {
  const size_t hello = tokenizer().encode("Hello", true).value().size();
  auto reply = post(ask(fmt::format(R"("min_tokens":{},"stop":"lo")", hello)));
  const auto submit = inbox.take<Submit>();
  deliver(submit.request, "Hello");
  deliver(submit.request, " Hello", Finish::length);
  const auto body = json::parse(reply.get().body);
  EXPECT_EQ(body["choices"][0]["message"]["content"], "Hello Hel");
  EXPECT_EQ(body["choices"][0]["finish_reason"], "stop");
}

TEST_F(HttpApiTest, TellsLogprobsInOpenAisShapeWholeAndStreamed) {
  const auto ids = tokenizer().encode("é<|im_end|>", true).value();
  const auto delivery = [&](RequestId id) {
    Delivery all{.request = id,
                 .ids = ids,
                 .drafted = std::vector<uint8_t>(ids.size()),
                 .depths = std::vector<uint8_t>(ids.size()),
                 .finish = Finish::stop};
    for (TokenId each : ids) all.logprobs.push_back({-0.5F, {{each, -0.5F}, {299999, -2.0F}}});
    return all;
  };
  const auto expect_told = [&](const json& choice) {
    const json& content = choice["logprobs"]["content"];
    ASSERT_EQ(content.size(), ids.size());
    std::string bytes;
    for (const json& entry : content) {
      EXPECT_EQ(entry["logprob"], -0.5);
      for (const json& byte : entry["bytes"]) bytes += static_cast<char>(byte.get<int>());
      EXPECT_EQ(entry["top_logprobs"].size(), 2U);
      EXPECT_EQ(entry["top_logprobs"][0]["token"], entry["token"]);
      EXPECT_EQ(entry["top_logprobs"][1]["bytes"], json::array()) << "a row of the model that is no token";
    }
    EXPECT_EQ(bytes, "é<|im_end|>");
  };
  auto reply = post(ask(R"("logprobs":true,"top_logprobs":2)"));
  api.deliver(delivery(inbox.take<Submit>().request));
  expect_told(json::parse(reply.get().body)["choices"][0]);
  auto streamed = stream(ask(R"("logprobs":true,"top_logprobs":2,"stream":true)"));
  api.deliver(delivery(inbox.take<Submit>().request));
  const Streamed events = streamed.get();
  expect_told(events[1]["choices"][0]);
  EXPECT_TRUE(events[0]["choices"][0]["logprobs"].is_null());
}

}  // namespace
}  // namespace slipstream
