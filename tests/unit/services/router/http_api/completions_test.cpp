// POST /v1/completions, answers of several choices on either path, and /tokenize.
#include <map>
#include <set>

#include "services/router/http_api/completion_request.h"
#include "tests/unit/common/http/wire_client.h"
#include "tests/unit/services/router/http_api/front.h"

namespace slipstream {
namespace {

using testing::ElementsAre;

const std::string kPath = "/v1/completions";

class Completions : public HttpApiTest {
 protected:
  void finish(RequestId id, std::string_view text) { deliver(id, std::string(text) + "<|im_end|>", Finish::stop); }
  static std::string repeated(std::string_view piece, int times) {
    std::string text;
    for (int i = 0; i < times; ++i) text += piece;
    return text;
  }
  std::vector<TokenId> tokens(std::string_view text) { return tokenizer().encode(text, true).value(); }
};

// Subjects that share this stage.
using Choices = Completions;
using TokenPaths = Completions;

TEST_F(Completions, TakeAPromptInFourForms) {
  for (const std::string prompt : {R"("Hello")", R"(["Hello"])", "[7, 8]", "[[7, 8]]"}) {
    auto reply = post(fmt::format(R"({{"prompt":{}}})", prompt), kPath);
    const auto submit = inbox.take<Submit>();
    EXPECT_EQ(submit.prompt, prompt.contains('H') ? tokens("Hello") : (std::vector<TokenId>{7, 8})) << prompt;
    EXPECT_EQ(submit.spec.output_max, kCompletionTokensDefault);
    finish(submit.request, " world");
    const auto body = json::parse(reply.get().body);
    EXPECT_EQ(body["object"], "text_completion");
    EXPECT_TRUE(body["id"].get<std::string>().starts_with("cmpl-"));
    EXPECT_EQ(body["choices"][0]["text"], " world");
    EXPECT_EQ(body["choices"][0]["finish_reason"], "stop");
    EXPECT_TRUE(body["choices"][0]["logprobs"].is_null());
    EXPECT_EQ(body["usage"]["prompt_tokens"], submit.prompt.size());
  }
}

TEST_F(Completions, LetSpecialTokensOfThePromptCountAsSuch) {
  auto reply = post(R"({"prompt":"<|im_start|>user"})", kPath);
  const auto submit = inbox.take<Submit>();
  EXPECT_EQ(submit.prompt, tokenizer().encode("<|im_start|>user", true).value());
  EXPECT_NE(submit.prompt, tokenizer().encode("<|im_start|>user", false).value());
  finish(submit.request, "x");
  reply.get();
}

TEST_F(Completions, RefuseWhatIsNotBuiltOrCannotBe) {
  struct Bad {
    std::string body, param, words;
  };
  for (const auto& [body, param, words] :
       {Bad{"{}", "prompt", "missing"}, Bad{R"({"prompt":[]})", "prompt", "empty"}, Bad{R"({"prompt":7})", "prompt", "it is 7"},
        Bad{R"({"prompt":""})", "prompt", "no token"}, Bad{R"({"prompt":[[]]})", "prompt", "no token"},
        Bad{R"({"prompt":["a",7]})", "prompt[1]", "it is 7"}, Bad{R"({"prompt":[7,"a"]})", "prompt", "integers"},
        Bad{R"({"prompt":[300]})", "prompt", "0 to 299"}, Bad{R"({"prompt":[-1]})", "prompt", "integers"},
        Bad{R"({"prompt":"a","suffix":"b"})", "suffix", "middle"},
        Bad{R"({"prompt":"a","logprobs":true})", "logprobs", "integer"},
        Bad{fmt::format(R"({{"prompt":[[7{}]]}})", repeated(",7", 511)), "prompt", "maximum context length is 512"},
        Bad{R"({"prompt":"a","n":3,"best_of":2})", "best_of", "less than `n`"},
        Bad{R"({"prompt":"a","best_of":9})", "best_of", "between 1 and 8"},
        Bad{R"({"prompt":"a","best_of":2,"stream":true})", "best_of", "`stream`: false"},
        Bad{R"({"prompt":"a","max_tokens":-1})", "max_tokens", "between 0"}, Bad{R"({"prompt":"a","n":9})", "n", "8"}}) {
    const auto reply = post(body, kPath).get();
    EXPECT_EQ(reply.status, 400) << body;
    const auto error = json::parse(reply.body)["error"];
    EXPECT_EQ(error["param"], param) << reply.body;
    EXPECT_THAT(error["message"].get<std::string>(), HasSubstr(words));
  }
  std::string prompts = R"("a")";
  for (size_t i = 0; i < kPromptsMax; ++i) prompts += R"(,"a")";
  EXPECT_EQ(post(fmt::format(R"({{"prompt":[{}]}})", prompts), kPath).get().status, 400);
}

TEST_F(Completions, EchoThePromptBeforeTheAnswer) {
  auto reply = post(R"({"prompt":"Hello","echo":true})", kPath);
  finish(inbox.take<Submit>().request, " you");
  EXPECT_EQ(json::parse(reply.get().body)["choices"][0]["text"], "Hello you");
  auto streamed = stream(R"({"prompt":"Hello","echo":true,"stream":true})", kPath);
  const auto submit = inbox.take<Submit>();
  deliver(submit.request, " y");
  finish(submit.request, "ou");
  const auto got = streamed.get();
  EXPECT_EQ(got[0]["choices"][0]["text"], "Hello y");
  EXPECT_EQ(got[1]["choices"][0]["text"], "ou");
}

TEST_F(Completions, StreamTextWithoutRoles) {
  auto streamed = stream(R"({"prompt":"Hello","stream":true,"stream_options":{"include_usage":true}})", kPath);
  finish(inbox.take<Submit>().request, " you");
  const auto got = streamed.get();
  ASSERT_EQ(got.events.size(), 4);
  EXPECT_EQ(got[0]["object"], "text_completion");
  EXPECT_EQ(got[0]["choices"][0]["text"], " you");
  EXPECT_FALSE(got[0]["choices"][0].contains("delta"));
  EXPECT_EQ(got[1]["choices"][0]["finish_reason"], "stop");
  EXPECT_EQ(got[2]["usage"]["prompt_tokens"], tokens("Hello").size());
  EXPECT_EQ(got.events[3], "[DONE]");
}

TEST_F(Completions, TellLogprobsAsParallelLists) {
  auto reply = post(R"({"prompt":"Hello","logprobs":1})", kPath);
  const auto submit = inbox.take<Submit>();
  EXPECT_EQ(submit.spec.top_logprobs, 1);
  const auto ids = tokens("you and");
  Delivery delivery{.request = submit.request,
                    .ids = ids,
                    .drafted = std::vector<uint8_t>(ids.size()),
                    .depths = std::vector<uint8_t>(ids.size()),
                    .finish = Finish::length};
  for (size_t i = 0; i < ids.size(); ++i) delivery.logprobs.push_back({.logprob = -0.5F, .top = {{kEnd, -0.25F}}});
  api.deliver(delivery);
  const auto told = json::parse(reply.get().body)["choices"][0]["logprobs"];
  ASSERT_EQ(told["tokens"].size(), ids.size());
  std::string text;
  for (size_t i = 0; i < ids.size(); ++i) {
    EXPECT_EQ(told["text_offset"][i], text.size());
    text += told["tokens"][i].get<std::string>();
    EXPECT_EQ(told["token_logprobs"][i], -0.5);
    EXPECT_EQ(told["top_logprobs"][i].size(), 2) << "the alternative, and the token itself";
  }
  EXPECT_EQ(text, "you and");
}

TEST_F(Completions, OfWhichTheBestAreToldAreGeneratedAll) {
  auto reply = post(R"({"prompt":"Hello","n":1,"best_of":2})", kPath);
  const auto ids = tokens("you and");
  size_t used = 0;
  for (const float logprob : {-2.0F, -1.0F}) {
    const auto submit = inbox.take<Submit>();
    EXPECT_EQ(submit.spec.top_logprobs, 0);
    const auto one = logprob < -1.5F ? ids : std::vector<TokenId>{ids.front()};
    used += one.size();
    api.deliver({.request = submit.request,
                 .ids = one,
                 .drafted = std::vector<uint8_t>(one.size()),
                 .depths = std::vector<uint8_t>(one.size()),
                 .finish = Finish::length,
                 .logprobs = std::vector<TokenLogprob>(one.size(), {logprob, {}})});
  }
  const auto body = json::parse(reply.get().body);
  ASSERT_EQ(body["choices"].size(), 1);
  EXPECT_EQ(body["choices"][0]["text"], tokenizer().decode(std::vector{ids.front()}, true).value());
  EXPECT_TRUE(body["choices"][0]["logprobs"].is_null());
  EXPECT_EQ(body["usage"]["completion_tokens"], used);
}

TEST_F(Completions, ShowSpecialTokensIfAskedButNotTheEnd) {
  auto reply = post(R"({"prompt":"Hello","skip_special_tokens":false})", kPath);
  finish(inbox.take<Submit>().request, "a<|im_start|>b");
  EXPECT_EQ(json::parse(reply.get().body)["choices"][0]["text"], "a<|im_start|>b");
}

TEST_F(Completions, OfSeveralPromptsAreChoicesInTheirOrder) {
  auto reply = post(R"({"prompt":["Hello","you","and"]})", kPath);
  std::vector<RequestId> ids;
  size_t prompt_tokens = 0;
  for (int i = 0; i < 3; ++i) {
    const auto submit = inbox.take<Submit>();
    ids.push_back(submit.request);
    prompt_tokens += submit.prompt.size();
  }
  finish(ids[2], "c");
  finish(ids[0], "a");
  finish(ids[1], "b");
  const auto body = json::parse(reply.get().body);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(body["choices"][i]["index"], i);
    EXPECT_EQ(body["choices"][i]["text"], std::string(1, static_cast<char>('a' + i)));
  }
  EXPECT_EQ(body["usage"]["prompt_tokens"], prompt_tokens);
}

TEST_F(Choices, OfOnePromptBeginWhenTheFirstHasBegunAndCountItsPromptOnce) {
  auto reply = post(ask(R"("n":3,"seed":7)"));
  const auto first = inbox.take<Submit>();
  EXPECT_EQ(first.spec.choice, 0);
  deliver(first.request, "One");
  const auto second = inbox.take<Submit>(), third = inbox.take<Submit>();
  EXPECT_EQ(second.spec.choice, 1);
  EXPECT_EQ(third.spec.choice, 2);
  for (const Submit& other : {second, third}) {
    EXPECT_EQ(other.prompt, first.prompt);
    EXPECT_EQ(other.spec.seed, 7);
  }
  finish(third.request, "Three");
  finish(first.request, "!");
  finish(second.request, "Two");
  const auto body = json::parse(reply.get().body);
  ASSERT_EQ(body["choices"].size(), 3);
  EXPECT_EQ(body["choices"][0]["message"]["content"], "One!");
  EXPECT_EQ(body["choices"][1]["message"]["content"], "Two");
  EXPECT_EQ(body["choices"][2]["message"]["content"], "Three");
  EXPECT_EQ(body["choices"][2]["slipstream"]["speculation"]["rule"], "greedy");
  EXPECT_EQ(body["usage"]["prompt_tokens"], first.prompt.size());
  EXPECT_EQ(body["usage"]["prompt_tokens_details"]["cached_tokens"], std::min<size_t>(32, first.prompt.size()))
      << "what the first one found; the others find what it computed";
  EXPECT_EQ(body["metrics"]["speculative_decoding"]["num_spec_steps"], 6) << "2 of each";
}

TEST_F(Choices, OfAStreamAreToldApartByTheirIndexAndEndTogether) {
  auto streamed = stream(ask(R"("n":2,"stream":true)"));
  const auto first = inbox.take<Submit>();
  deliver(first.request, "One");
  const auto second = inbox.take<Submit>();
  finish(first.request, "!");
  finish(second.request, "Two");
  const auto got = streamed.get();
  std::map<int, std::string> texts;
  std::set<int> roles, ended;
  for (size_t i = 0; i + 1 < got.events.size(); ++i) {
    const auto choice = got[i]["choices"][0];
    const int index = choice["index"];
    texts[index] += choice["delta"].value("content", "");
    if (choice["delta"].contains("role")) roles.insert(index);
    if (!choice["finish_reason"].is_null()) ended.insert(index);
  }
  EXPECT_EQ(texts, (std::map<int, std::string>{{0, "One!"}, {1, "Two"}}));
  EXPECT_THAT(roles, ElementsAre(0, 1));
  EXPECT_THAT(ended, ElementsAre(0, 1));
  EXPECT_EQ(got.events.back(), "[DONE]");
}

TEST_F(Choices, FailTogether) {
  auto reply = post(ask(R"("n":2)"));
  const auto first = inbox.take<Submit>();
  deliver(first.request, "One");
  const auto second = inbox.take<Submit>();
  api.fail({.request = second.request, .status = 503, .code = "no_verifier", .message = "lost"});
  EXPECT_EQ(reply.get().status, 503);
  const auto abandon = inbox.take<Abandon>();
  EXPECT_EQ(abandon.request, first.request);
  EXPECT_EQ(abandon.why, Abandon::Why::failed);
}

TEST_F(Choices, AreAllAbandonedWhenTheClientLeaves) {
  const auto request = ask(R"("n":2,"stream":true)");
  WireClient client(server.port());
  client.send(fmt::format("{}Content-Length: {}\r\n\r\n{}", kPostHead, request.size(), request));
  const auto first = inbox.take<Submit>();
  deliver(first.request, "One");
  const auto second = inbox.take<Submit>();
  client.reset();
  EXPECT_EQ(inbox.take<Abandon>().request, first.request);
  EXPECT_EQ(inbox.take<Abandon>().request, second.request);
}

TEST_F(Choices, ThatNobodyWantsAnyMoreAreAbandonedWhenTheyAreAccepted) {
  api.still_here(77);
  EXPECT_EQ(inbox.take<Abandon>().request, 77);
}

TEST_F(TokenPaths, TokenizeATextAndAChat) {
  const auto text = json::parse(post(R"({"prompt":"Hello you","return_token_strs":true})", "/tokenize").get().body);
  EXPECT_EQ(text["tokens"], json(tokens("Hello you")));
  EXPECT_EQ(text["count"], tokens("Hello you").size());
  EXPECT_EQ(text["max_model_len"], 512);
  std::string joined;
  for (const auto& token : text["token_strs"]) joined += token.get<std::string>();
  EXPECT_EQ(joined, "Hello you");
  const auto chat = json::parse(post(R"({"messages":[{"role":"user","content":"Hello"}]})", "/tokenize").get().body);
  auto asked = post(ask());
  const auto submit = inbox.take<Submit>();
  EXPECT_EQ(chat["tokens"], json(submit.prompt)) << "the prompt that the chat would be";
  finish(submit.request, "x");
  asked.get();
}

TEST_F(TokenPaths, SayWhatTheyTokenizeWhereNothingIsGiven) {
  const auto got = post("{}", "/tokenize").get();
  EXPECT_EQ(got.status, 400);
  EXPECT_EQ(json::parse(got.body)["error"]["param"], "prompt");
  EXPECT_EQ(json::parse(got.body)["error"]["message"],
            "`prompt` is missing: send a text as `prompt`, or a chat as `messages`.");
}

TEST_F(TokenPaths, DetokenizeWhatTheyTokenized) {
  const auto body = json{{"tokens", tokens("<|im_start|>Hello")}}.dump();
  EXPECT_EQ(json::parse(post(body, "/detokenize").get().body)["prompt"], "<|im_start|>Hello");
  EXPECT_EQ(post(fmt::format(R"({{"tokens":[7{}]}})", repeated(",7", kContextTokensMax)), "/detokenize").get().status, 400);
  for (const std::string bad : {R"({"tokens":"x"})", R"({"tokens":[300]})", R"({"tokens":[1.5]})", "{}"}) {
    EXPECT_EQ(post(bad, "/detokenize").get().status, 400) << bad;
  }
}

}  // namespace
}  // namespace slipstream
