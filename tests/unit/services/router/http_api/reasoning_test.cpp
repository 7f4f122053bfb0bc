// What a model thinks: split off its answer, in each API.
#include "services/router/http_api/reasoning.h"

#include "tests/unit/services/router/http_api/front.h"

namespace slipstream {
namespace {

using testing::ElementsAre;

struct Thought {
  Reasoning reasoning;
  std::string written, thought, answer;
};

class WhatAModelThinks : public testing::TestWithParam<Thought> {};

TEST_P(WhatAModelThinks, IsSplitOffInPiecesOfAnySize) {
  const auto& [reasoning, written, thought, answer] = GetParam();
  for (const size_t bytes : {size_t{1}, size_t{2}, size_t{5}, written.size() + 1}) {
    ReasoningReader reader(reasoning);
    ReasoningReader::Piece all;
    const auto add = [&](const ReasoningReader::Piece& piece) {
      all.reasoning += piece.reasoning;
      all.text += piece.text;
    };
    for (size_t at = 0; at < written.size(); at += bytes) add(reader.push(std::string_view(written).substr(at, bytes)));
    add(reader.flush());
    EXPECT_EQ(all.reasoning, thought) << bytes;
    EXPECT_EQ(all.text, answer) << bytes;
  }
}

using enum Reasoning;
INSTANTIATE_TEST_SUITE_P(
    Reasoning, WhatAModelThinks,
    testing::Values(Thought{none, "<think>a</think>b", "", "<think>a</think>b"}, Thought{may_begin, "b", "", "b"},
                    Thought{may_begin, "<think>a</think>b", "a", "b"},
                    Thought{may_begin, "\n<think>\na\n\nb\n</think>\n\nc\n", "a\n\nb", "c\n"},
                    Thought{may_begin, "<think>\n\n</think>\n\nb", "", "b"},
                    Thought{may_begin, "b <think>a</think>", "", "b <think>a</think>"},
                    Thought{may_begin, "<think>a</think>b<think>c</think>", "a", "b<think>c</think>"},
                    Thought{may_begin, "<thin", "", "<thin"}, Thought{may_begin, "<thinker>", "", "<thinker>"},
                    Thought{may_begin, "  ", "", "  "}, Thought{may_begin, "<think>a < b </thin", "a < b </thin", ""},
                    Thought{may_begin, "<think>a </think>", "a", ""}, Thought{begun, "a</think>b", "a", "b"},
                    Thought{begun, "\n<think>\na</think>b", "a", "b"}, Thought{begun, "<thin a</think>b", "<thin a", "b"},
                    Thought{begun, "a", "a", ""}, Thought{begun, "</think>b", "", "b"}));

TEST(ReasoningReader, HoldsNoMoreSpaceThanItsLimit) {
  const std::string spaces(1 << 20, ' ');
  ReasoningReader reader(may_begin);
  EXPECT_EQ(reader.push(spaces).text, spaces);
  ReasoningReader inside(begun);
  inside.push("a");
  EXPECT_EQ(inside.push(spaces).reasoning, spaces);
}

TEST(ReasoningOf, IsToldByTheTemplateAndTheEndOfItsPrompt) {
  EXPECT_EQ(reasoning_of("{{ messages }}", "<think>\n"), none);
  EXPECT_EQ(reasoning_of("... '</think>' in content ...", "assistant\n"), may_begin);
  EXPECT_EQ(reasoning_of("... <think>\\n ...", "assistant\n<think>\n"), begun);
  EXPECT_EQ(reasoning_of("... <think>\\n ...", "<think>\n\n</think>\n\n"), may_begin);
}

// A front whose template thinks if it is told to, and shows what was thought before.
class ReasoningOfAnAnswer : public HttpApiTest {
 protected:
  static constexpr std::string_view kTemplate =
      "{%- for m in messages %}{{ m.role }}: {% if m.reasoning_content %}({{ m.reasoning_content }}) {% endif %}{{ m.content "
      "}}; "
      "{% endfor %}{% if enable_thinking is defined and not enable_thinking %}<think></think>{% else %}<think>{% endif %}";
  static constexpr std::string_view kThought = "I muse.</think>Hello<|im_end|>";
  ReasoningOfAnAnswer() : HttpApiTest(with_template(kTemplate)) {}

  json whole(const std::string& path, std::string body) {
    auto reply = post(std::move(body), path);
    deliver(inbox.take<Submit>().request, kThought, Finish::stop);
    return json::parse(reply.get().body);
  }
  std::vector<json> streamed(const std::string& path, std::string body) {
    auto stream = this->stream(std::move(body), path);
    const auto submit = inbox.take<Submit>();
    deliver(submit.request, "I ");
    deliver(submit.request, "muse.</think>Hel");
    deliver(submit.request, "lo<|im_end|>", Finish::stop);
    std::vector<json> events;
    for (const std::string& event : stream.get().events) {
      if (event != "[DONE]") events.push_back(json::parse(event));
    }
    return events;
  }
  static constexpr std::string_view kInput = R"({"input":"hi"})";
  static constexpr std::string_view kMessages = R"({"max_tokens":9,"messages":[{"role":"user","content":"hi"}]})";
  static std::string streams(std::string_view body) { return R"({"stream":true,)" + std::string(body.substr(1)); }
  std::string prompt(const std::string& path, std::string body) {
    auto reply = post(std::move(body), path);
    const auto submit = inbox.take<Submit>();
    deliver(submit.request, "x<|im_end|>", Finish::stop);
    EXPECT_EQ(reply.get().status, 200);
    return tokenizer().decode(submit.prompt, false).value();
  }
};

TEST_F(ReasoningOfAnAnswer, IsReasoningContentOfAChat) {
  const json body = whole("/v1/chat/completions", ask());
  const json& message = body["choices"][0]["message"];
  EXPECT_EQ(message["reasoning_content"], "I muse.");
  EXPECT_EQ(message["content"], "Hello");
  const int thought = body["usage"]["completion_tokens_details"]["reasoning_tokens"];
  EXPECT_GT(thought, 0);
  EXPECT_LT(thought, body["usage"]["completion_tokens"]);
}

TEST_F(ReasoningOfAnAnswer, ComesInDeltasOfAChat) {
  std::string thought, text;
  for (const json& chunk : streamed("/v1/chat/completions", ask(R"("stream":true)"))) {
    const json& delta = chunk["choices"][0]["delta"];
    thought += delta.value("reasoning_content", "");
    text += delta.value("content", "");
  }
  EXPECT_EQ(thought, "I muse.");
  EXPECT_EQ(text, "Hello");
}

TEST_F(ReasoningOfAnAnswer, StaysInTheTextIfTheRequestSaysSo) {
  const json message = whole("/v1/chat/completions", ask(R"("separate_reasoning":false)"))["choices"][0]["message"];
  EXPECT_EQ(message["content"], "I muse.</think>Hello");
  EXPECT_FALSE(message.contains("reasoning_content"));
}

TEST_F(ReasoningOfAnAnswer, IsNotLookedForIfTheModelDoesNotThink) {
  const json message =
      whole("/v1/chat/completions", ask(R"("chat_template_kwargs":{"enable_thinking":false})"))["choices"][0]["message"];
  EXPECT_EQ(message["content"], "I muse.</think>Hello");
}

TEST_F(ReasoningOfAnAnswer, IsAnItemOfAResponse) {
  const json body = whole("/v1/responses", std::string(kInput));
  ASSERT_EQ(body["output"].size(), 2);
  EXPECT_EQ(body["output"][0]["type"], "reasoning");
  EXPECT_EQ(body["output"][0]["content"], json::parse(R"([{"type":"reasoning_text","text":"I muse."}])"));
  EXPECT_EQ(body["output"][1]["content"][0]["text"], "Hello");
  EXPECT_GT(body["usage"]["output_tokens_details"]["reasoning_tokens"], 0);
}

TEST_F(ReasoningOfAnAnswer, HasEventsOfItsOwnInAResponse) {
  std::vector<std::string> types;
  for (const json& event : streamed("/v1/responses", streams(kInput))) types.push_back(event["type"]);
  types.resize(8);
  EXPECT_THAT(types,
              ElementsAre("response.created", "response.in_progress", "response.output_item.added",
                          "response.content_part.added", "response.reasoning_text.delta", "response.reasoning_text.delta",
                          "response.reasoning_text.done", "response.content_part.done"));
}

TEST_F(ReasoningOfAnAnswer, IsAThinkingBlockOfAMessage) {
  const json content = whole("/v1/messages", std::string(kMessages))["content"];
  ASSERT_EQ(content.size(), 2);
  EXPECT_EQ(content[0], json::parse(R"({"type":"thinking","thinking":"I muse.","signature":""})"));
  EXPECT_EQ(content[1]["text"], "Hello");
  const auto events = streamed("/v1/messages", streams(kMessages));
  EXPECT_EQ(events[1]["content_block"]["type"], "thinking");
  EXPECT_EQ(events[2]["delta"], json::parse(R"({"type":"thinking_delta","thinking":"I"})"));
}

TEST_F(ReasoningOfAnAnswer, OfBeforeGoesToTheTemplate) {
  const std::string wanted = "assistant: (I muse.) Hello; user: hi; <think>";
  EXPECT_EQ(prompt("/v1/chat/completions", R"({"messages":[{"role":"assistant","reasoning_content":"I muse.","content":"Hello"},
                                                           {"role":"user","content":"hi"}]})"),
            wanted);
  EXPECT_EQ(prompt("/v1/responses", R"({"input":[{"type":"reasoning","content":[{"type":"reasoning_text","text":"I muse."}]},
                                                 {"role":"assistant","content":"Hello"},{"role":"user","content":"hi"}]})"),
            wanted);
  EXPECT_EQ(prompt("/v1/messages", R"({"max_tokens":9,"messages":[{"role":"assistant","content":[{"type":"thinking",
                                      "thinking":"I muse.","signature":""},{"type":"text","text":"Hello"}]},
                                      {"role":"user","content":"hi"}]})"),
            wanted);
}

TEST_F(ReasoningOfAnAnswer, IsLeftOutIfAResponseShallHaveNone) {
  EXPECT_TRUE(prompt("/v1/responses", R"({"input":"hi","reasoning":{"effort":"none"}})").ends_with("</think>"));
  EXPECT_TRUE(prompt("/v1/responses", R"({"input":"hi","reasoning":{"effort":"low"}})").ends_with("<think>"));
}

}  // namespace
}  // namespace slipstream
