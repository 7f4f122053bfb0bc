#include "services/router/http_api/prompt_logprobs.h"

#include "tests/unit/services/router/http_api/front.h"

namespace slipstream {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::string kPath = "/v1/completions";

class PromptLogprobsTest : public HttpApiTest {
 protected:
  std::vector<TokenId> tokens(std::string_view text) { return tokenizer().encode(text, true).value(); }
  static std::vector<TokenLogprob> logprobs(size_t count) {
    std::vector<TokenLogprob> made;
    for (size_t i = 0; i < count; ++i) made.push_back({-1.0F - static_cast<float>(i), {{kEnd, -0.25F}}, 40});
    return made;
  }
  void score(RequestId id, std::vector<TokenLogprob> logprobs, Finish finish = Finish::none) {
    api.deliver({.request = id, .finish = finish, .prompt_logprobs = std::move(logprobs)});
  }
  // The end of an answer whose one token comes with a logprob.
  void end(RequestId id, TokenId token) {
    api.deliver({.request = id,
                 .ids = {token},
                 .drafted = {0},
                 .depths = {0},
                 .finish = Finish::length,
                 .logprobs = {{-0.5F, {{token, -0.5F}}}}});
  }
};

TEST_F(PromptLogprobsTest, BeginTheListsOfAnEchoedPrompt) {
  auto reply = post(R"({"prompt":"Hello you","echo":true,"logprobs":1,"max_tokens":1})", kPath);
  const auto submit = inbox.take<Submit>();
  EXPECT_EQ(submit.spec.prompt_logprobs, 1);
  const auto all = logprobs(submit.prompt.size() - 1);
  score(submit.request, {all.begin(), all.begin() + 1});
  score(submit.request, {all.begin() + 1, all.end()});
  end(submit.request, tokens("x").front());
  const auto choice = json::parse(reply.get().body)["choices"][0];
  const auto& lists = choice["logprobs"];
  ASSERT_EQ(lists["tokens"].size(), submit.prompt.size() + 1);
  EXPECT_TRUE(lists["token_logprobs"][0].is_null());
  EXPECT_TRUE(lists["top_logprobs"][0].is_null());
  EXPECT_EQ(lists["token_logprobs"][1], -1);
  EXPECT_EQ(lists["top_logprobs"][1].size(), 2);
  EXPECT_EQ(lists["token_logprobs"].back(), -0.5);
  std::string text;
  for (size_t i = 0; i < lists["tokens"].size(); ++i) {
    EXPECT_EQ(lists["text_offset"][i], text.size());
    text += lists["tokens"][i];
  }
  EXPECT_EQ(choice["text"], text);
}

TEST_F(PromptLogprobsTest, AreAllThatAnAnswerOfNoTokensTells) {
  auto reply = post(R"({"prompt":"Hello you","echo":true,"logprobs":0,"max_tokens":0})", kPath);
  const auto submit = inbox.take<Submit>();
  EXPECT_EQ(submit.spec.output_max, 1) << "the pass samples one, which is not told";
  score(submit.request, logprobs(submit.prompt.size() - 1));
  end(submit.request, tokens("x").front());
  const auto body = json::parse(reply.get().body);
  EXPECT_EQ(body["choices"][0]["text"], "Hello you");
  EXPECT_EQ(body["choices"][0]["finish_reason"], "length");
  EXPECT_EQ(body["choices"][0]["logprobs"]["tokens"].size(), submit.prompt.size());
  EXPECT_EQ(body["usage"]["completion_tokens"], 0);
}

TEST_F(PromptLogprobsTest, AreStreamedBeforeAllElse) {
  auto streamed = stream(R"({"prompt":"Hello you","echo":true,"logprobs":0,"max_tokens":1,"stream":true})", kPath);
  const auto submit = inbox.take<Submit>();
  const auto all = logprobs(submit.prompt.size() - 1);
  score(submit.request, {all.begin(), all.begin() + 1});
  score(submit.request, {all.begin() + 1, all.end()});
  end(submit.request, tokens("x").front());
  const auto got = streamed.get();
  ASSERT_EQ(got.events.size(), 4U);
  EXPECT_EQ(got[0]["choices"][0]["text"], "Hello you");
  EXPECT_EQ(got[0]["choices"][0]["logprobs"]["tokens"].size(), submit.prompt.size());
  EXPECT_EQ(got[1]["choices"][0]["text"], "x");
  EXPECT_EQ(got[1]["choices"][0]["logprobs"]["tokens"].size(), 1U);
}

TEST_F(PromptLogprobsTest, AreTakenByVllmsName) {
  for (const std::string path : {"/v1/completions", "/v1/chat/completions"}) {
    const bool chat = path.contains("chat");
    auto reply = post(chat ? ask(R"("prompt_logprobs":1)") : R"({"prompt":"Hello you","prompt_logprobs":1})", path);
    const auto submit = inbox.take<Submit>();
    EXPECT_FALSE(submit.spec.top_logprobs.has_value());
    score(submit.request, logprobs(submit.prompt.size() - 1));
    deliver(submit.request, "x", Finish::length);
    const auto body = json::parse(reply.get().body);
    const auto& list = (chat ? body : body["choices"][0])["prompt_logprobs"];
    ASSERT_EQ(list.size(), submit.prompt.size());
    EXPECT_TRUE(list[0].is_null());
    const auto own = list[1][fmt::to_string(submit.prompt[1])], likeliest = list[1][fmt::to_string(kEnd)];
    EXPECT_EQ(own["logprob"], -1);
    EXPECT_EQ(own["rank"], 40);
    EXPECT_EQ(own["decoded_token"], tokenizer().piece(submit.prompt[1]).value());
    EXPECT_EQ(likeliest["rank"], 1);
    EXPECT_TRUE(body["choices"][0]["logprobs"].is_null());
  }
}

TEST_F(PromptLogprobsTest, HaveNoRankWhereAnOlderVerifierTellsNone) {
  auto reply = post(R"({"prompt":"Hello you","prompt_logprobs":0})", kPath);
  const auto submit = inbox.take<Submit>();
  score(submit.request, std::vector<TokenLogprob>(submit.prompt.size() - 1, {-1.0F, {}}));
  deliver(submit.request, "x", Finish::length);
  const auto list = json::parse(reply.get().body)["choices"][0]["prompt_logprobs"];
  EXPECT_TRUE(list[1][fmt::to_string(submit.prompt[1])]["rank"].is_null());
}

TEST_F(PromptLogprobsTest, OfAPromptOfOneTokenAreNone) {
  auto reply = post(R"({"prompt":[7],"echo":true,"logprobs":0,"max_tokens":1})", kPath);
  end(inbox.take<Submit>().request, 8);
  const auto lists = json::parse(reply.get().body)["choices"][0]["logprobs"];
  EXPECT_TRUE(lists["token_logprobs"][0].is_null());
  EXPECT_EQ(lists["token_logprobs"][1], -0.5);
}

TEST_F(PromptLogprobsTest, ThatCannotBeAskedForAreRefused) {
  struct Bad {
    std::string fields, param, words;
  };
  for (const auto& [fields, param, words] :
       {Bad{R"("prompt":"a","prompt_logprobs":-1)", "prompt_logprobs", "between 0 and 20"},
        Bad{R"("prompt":"a","prompt_logprobs":1,"stream":true)", "prompt_logprobs", "`stream`: false"},
        Bad{R"("prompt":"a","prompt_logprobs":1,"echo":true,"logprobs":2)", "prompt_logprobs", "Send one number"},
        Bad{R"("prompt":"a","max_tokens":0,"min_tokens":1)", "min_tokens", "more than `max_tokens`"}}) {
    const auto reply = post("{" + fields + "}", kPath).get();
    EXPECT_EQ(reply.status, 400) << fields;
    const auto error = json::parse(reply.body)["error"];
    EXPECT_EQ(error["param"], param);
    EXPECT_THAT(error["message"].get<std::string>(), HasSubstr(words));
  }
}

// 500 tokens, eight choices, 21 logprobs each: 84,000.
TEST_F(PromptLogprobsTest, BeyondTheLimitAreRefused) {
  std::string ids = "7";
  for (int i = 1; i < 500; ++i) ids += ",7";
  const auto reply = post(fmt::format(R"({{"prompt":[{}],"echo":true,"logprobs":20,"n":8}})", ids), kPath).get();
  EXPECT_EQ(reply.status, 400);
  const auto error = json::parse(reply.body)["error"];
  EXPECT_EQ(error["param"], "logprobs");
  EXPECT_THAT(error["message"].get<std::string>(), HasSubstr("84000 logprobs of prompts"));
  EXPECT_THAT(error["message"].get<std::string>(), HasSubstr("the limit is 65536"));
}

// What begins a sequence is a token of the prompt, and no part of its text.
TEST(PromptFacts, GiveATokenThatIsNotShownNoPlace) {
  const Tokenizer tokenizer = *Tokenizer::load(kModel / "tokenizer.json");
  std::vector<TokenId> prompt{kEnd};
  const std::vector<TokenId> text = tokenizer.encode("Hello you", true).value();
  prompt.insert(prompt.end(), text.begin(), text.end());
  PromptLogprobs logprobs(prompt);
  EXPECT_FALSE(logprobs.complete());
  logprobs.add(std::vector<TokenLogprob>(text.size()), tokenizer);
  EXPECT_TRUE(logprobs.complete());
  const auto facts = logprobs.facts(9, tokenizer);
  EXPECT_EQ(facts[0].offset, 0);
  EXPECT_EQ(facts[1].offset, 0);
  EXPECT_GT(facts[2].offset, 0);
  EXPECT_THAT(PromptLogprobs().facts(0, tokenizer), IsEmpty());
}

}  // namespace
}  // namespace slipstream
