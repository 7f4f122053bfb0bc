// Ollama's paths: /api/chat, /api/generate, /api/tags, /api/show, /api/version.
#include <chrono>

#include "services/router/http_api/ollama_format.h"
#include "tests/unit/services/router/http_api/api_stage.h"

namespace slipstream {
namespace {

using testing::ElementsAre;

class OllamaStage : public HttpApiTest {
 protected:
  static ServedModel offered() {
    ServedModel served = model();
    served.offer.ollama = true;
    return served;
  }
  OllamaStage() : HttpApiTest(offered()) {}
  explicit OllamaStage(ServedModel served) : HttpApiTest(std::move(served)) {}

  static std::vector<json> lines(const std::string& body) {
    std::vector<json> parsed;
    for (size_t at = 0; at < body.size();) {
      const size_t end = body.find('\n', at);
      parsed.push_back(json::parse(body.substr(at, end - at)));
      at = end + 1;
    }
    return parsed;
  }
  Submit submitted(const std::string& fields, const std::string& path = "/api/chat") {
    auto reply = post(fmt::format(R"({{"model":"demo","stream":false,{}}})", fields), path);
    const auto submit = inbox.take<Submit>();
    deliver(submit.request, "x<|im_end|>", Finish::stop);
    EXPECT_EQ(reply.get().status, 200) << fields;
    return submit;
  }
  const std::string kHi = R"("messages":[{"role":"user","content":"Hello"}])";
};

TEST_F(OllamaStage, AnswersAChatAsLinesUnlessToldOtherwise) {
  auto reply = post(fmt::format(R"({{"model":"demo:latest",{}}})", kHi), "/api/chat");
  const auto submit = inbox.take<Submit>();
  deliver(submit.request, "you");
  deliver(submit.request, "<|im_end|>", Finish::stop);
  const auto got = reply.get();
  EXPECT_EQ(got.status, 200);
  const auto told = lines(got.body);
  ASSERT_EQ(told.size(), 2U) << got.body;
  EXPECT_EQ(told[0]["message"]["content"], "you");
  EXPECT_EQ(told[0]["message"]["role"], "assistant");
  EXPECT_EQ(told[0]["done"], false);
  EXPECT_EQ(told[1]["done"], true);
  EXPECT_EQ(told[1]["done_reason"], "stop");
  EXPECT_EQ(told[1]["eval_count"], 2);
  EXPECT_EQ(told[1]["prompt_eval_count"], submit.prompt.size());
  EXPECT_GT(told[1]["total_duration"], 0);
}

TEST_F(OllamaStage, GeneratesFromAPrompt) {
  auto reply = post(R"({"model":"demo","prompt":"Hello","system":"Be brief.","stream":false})", "/api/generate");
  const auto submit = inbox.take<Submit>();
  EXPECT_THAT(tokenizer().decode(submit.prompt, false).value(), HasSubstr("Be brief."));
  deliver(submit.request, "you", Finish::length);
  const auto body = json::parse(reply.get().body);
  EXPECT_EQ(body["response"], "you");
  EXPECT_EQ(body["done_reason"], "length");
  EXPECT_FALSE(body.contains("message"));
}

TEST_F(OllamaStage, TakesItsOptions) {
  const Submit submit = submitted(
      kHi + R"(,"options":{"temperature":0.5,"top_p":0.9,"top_k":7,"min_p":0.1,"seed":3,"num_predict":5,"stop":["a"],)" +
      R"("repeat_penalty":1.1,"num_ctx":4096})");
  EXPECT_FLOAT_EQ(submit.spec.sampling.temperature, 0.5F);
  EXPECT_FLOAT_EQ(submit.spec.sampling.top_p, 0.9F);
  EXPECT_EQ(submit.spec.sampling.top_k, 7);
  EXPECT_FLOAT_EQ(submit.spec.sampling.min_p, 0.1F);
  EXPECT_EQ(submit.spec.seed, 3U);
  EXPECT_EQ(submit.spec.output_max, 5);
  EXPECT_FLOAT_EQ(submit.spec.logits_params.repetition_penalty, 1.1F);
  EXPECT_EQ(submitted(kHi + R"(,"options":{"num_predict":-1})").spec.output_max, 0) << "what the context leaves";
}

TEST_F(OllamaStage, NamesWhatIsWrongAsTheClientDoes) {
  struct Bad {
    std::string path, fields, words;
  };
  for (const auto& [path, fields, words] :
       {Bad{"/api/chat", R"("options":{"temperature":3},)" + kHi, "`options.temperature` must be"},
        Bad{"/api/chat", R"("options":{"num_predict":0},)" + kHi, "`options.num_predict`"},
        Bad{"/api/chat", R"("messages":{})", "`messages` must be a list"},
        Bad{"/api/chat", R"("messages":[{"role":"king","content":"x"}])", "`messages[0].role` must be"},
        Bad{"/api/chat", R"("messages":[{"role":"user","content":"x","images":["aa"]}])", "reads text only"},
        Bad{"/api/chat", R"("format":7,)" + kHi, "`format` must be"},
        Bad{"/api/generate", R"("prompt":5)", "`prompt` must be a string"},
        Bad{"/api/generate", R"("prompt":"a","raw":true)", "/v1/completions"},
        Bad{"/api/generate", R"("prompt":"a","suffix":"b")", "fill in the middle"},
        Bad{"/api/generate", R"("prompt":"a","context":[1,2])", "/api/chat"}}) {
    const auto reply = post(fmt::format(R"({{"model":"demo",{}}})", fields), path).get();
    EXPECT_EQ(reply.status, 400) << fields;
    EXPECT_THAT(json::parse(reply.body)["error"].get<std::string>(), HasSubstr(words));
  }
  EXPECT_EQ(post("{" + kHi + "}", "/api/chat").get().status, 400) << "without a model";
  EXPECT_EQ(post(R"({"model":"other",)" + kHi + "}", "/api/chat").get().status, 404);
}

TEST_F(OllamaStage, SaysThatItsModelIsLoadedWhereNothingElseIsAsked) {
  for (const char* fields : {R"("prompt":"")", R"("keep_alive":-1)", R"("prompt":null,"stream":true)"}) {
    const auto reply = post(fmt::format(R"({{"model":"demo:latest",{}}})", fields), "/api/generate").get();
    EXPECT_EQ(reply.status, 200) << fields;
    const auto body = json::parse(reply.body);
    EXPECT_EQ(body["model"], "demo:latest");
    EXPECT_EQ(body["response"], "");
    EXPECT_EQ(body["done"], true);
    EXPECT_EQ(body["done_reason"], "load");
  }
  const auto chat = json::parse(post(R"({"model":"demo","messages":[]})", "/api/chat").get().body);
  EXPECT_EQ(chat["message"], (json{{"role", "assistant"}, {"content", ""}}));
  EXPECT_EQ(chat["done_reason"], "load");
  EXPECT_EQ(post(R"({"model":"other"})", "/api/generate").get().status, 404);
}

TEST_F(OllamaStage, TellsOfTheModelAndItself) {
  const auto tags = json::parse(get("/api/tags").body)["models"];
  ASSERT_EQ(tags.size(), 2U);
  EXPECT_EQ(tags[0]["name"], "demo");
  EXPECT_FALSE(json::parse(get("/api/version").body)["version"].get<std::string>().empty());
  const auto shown = json::parse(post(R"({"model":"demo:latest"})", "/api/show").get().body);
  EXPECT_EQ(shown["model_info"]["slipstream.context_length"], 512);
  EXPECT_EQ(shown["capabilities"][0], "completion");
  EXPECT_EQ(post(R"({"model":"other"})", "/api/show").get().status, 404);
}

TEST_F(OllamaStage, WritesEveryLineAsJsonWhileTheAnswerIsAwaited) {
  auto reply = post(fmt::format(R"({{"model":"demo",{}}})", kHi), "/api/chat");
  const auto submit = inbox.take<Submit>();
  api.still_here(submit.request);
  deliver(submit.request, "<|im_end|>", Finish::stop);
  const auto told = lines(reply.get().body);
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told[0]["message"]["content"], "");
  EXPECT_EQ(told[0]["done"], false);
}

using NotOllamas = HttpApiTest;

TEST_F(NotOllamas, PathsAreThereOnlyIfTheOperatorSaysSo) {
  EXPECT_EQ(get("/api/tags").status, 404);
  EXPECT_EQ(post(R"({"model":"demo","prompt":"a"})", "/api/generate").get().status, 404);
}

class OllamaTools : public OllamaStage {
 protected:
  static ServedModel calling() {
    ServedModel served = with_template("{{ tools | tojson if tools }}<tool_call>{{ messages[0].content }}");
    served.offer.ollama = true;
    return served;
  }
  OllamaTools() : OllamaStage(calling()) {}
};

TEST_F(OllamaTools, AreCalledInOnePieceEach) {
  auto reply =
      post(fmt::format(R"({{"model":"demo",{},"tools":[{{"type":"function","function":{{"name":"f"}}}}]}})", kHi), "/api/chat");
  const auto submit = inbox.take<Submit>();
  deliver(submit.request, R"(<tool_call>{"name": "f", "arguments": {"a")");
  deliver(submit.request, R"(: 1}}</tool_call><tool_call>{"name": "f", "arguments": {)");
  deliver(submit.request, R"("a": 2}}</tool_call>)");
  deliver(submit.request, R"(<tool_call>{"name": "f", "arguments": {"a": <|im_end|>)", Finish::stop);
  const auto told = lines(reply.get().body);
  ASSERT_EQ(told.size(), 4U);
  for (const int i : {0, 1}) {
    EXPECT_EQ(told[i]["message"]["tool_calls"],
              json::parse(fmt::format(R"([{{"function":{{"name":"f","arguments":{{"a":{}}}}}}}])", i + 1)));
  }
  EXPECT_EQ(told[2]["message"]["tool_calls"][0]["function"]["arguments"], (json{{"INVALID_JSON", R"({"a": )"}}));
}

TEST_F(OllamaStage, TellsTheTimeOfThePromptFromThatOfTheAnswer) {
  auto reply = post(fmt::format(R"({{"model":"demo","stream":false,{}}})", kHi), "/api/chat");
  const auto submit = inbox.take<Submit>();
  deliver(submit.request, "you");
  deliver(submit.request, "<|im_end|>", Finish::stop);
  const auto body = json::parse(reply.get().body);
  const int64_t prompt = body["prompt_eval_duration"], answer = body["eval_duration"];
  EXPECT_GT(prompt, 0);
  EXPECT_GT(answer, 0);
  EXPECT_EQ(prompt + answer, body["total_duration"]);
}

TEST(OllamaTime, IsWrittenInUtc) { EXPECT_EQ(utc_text(1'764'040'546), "2025-11-25T03:15:46Z"); }

}  // namespace
}  // namespace slipstream
