#include "common/text/chat_template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

#include "tests/unit/common/text/golden.h"

namespace slipstream {
namespace {

using std::chrono::system_clock;
using testing::HasSubstr;

const std::vector<ChatMessage> kHello = {{"user", "hello"}};

Result<std::string> rendered(std::string_view jinja, const std::vector<ChatMessage>& messages = kHello) {
  TemporaryFolder folder;
  folder.write("chat_template.jinja", jinja);
  TRY(const ChatTemplate chat_template, ChatTemplate::load(folder.path()));
  return chat_template.render(messages);
}

TEST(ChatTemplate, RendersChatMlAsJinja2Does) {
  const ChatTemplate chatml = ChatTemplate::load(data_folder()).value();  // from tokenizer_config.json
  for (const auto& chat : golden("chatml")) EXPECT_EQ(chatml.render(messages_of(chat)).value(), chat["text"]);
}

TEST(ChatTemplate, RendersWhatRealTemplatesUseAsJinja2Does) {
  TemporaryFolder folder;
  std::filesystem::copy(data_folder() / "chatty.jinja", folder.path() / "chat_template.jinja");
  std::filesystem::copy(data_folder() / "tokenizer_config.json", folder.path() / "tokenizer_config.json");
  ASSERT_EQ(setenv("TZ", "UTC", 1), 0);  // strftime_now gives local time
  tzset();
  const ChatTemplate chatty = ChatTemplate::load(folder.path()).value();
  const system_clock::time_point now{std::chrono::seconds(golden("now_unix_s").get<int64_t>())};
  for (const auto& chat : golden("chatty")) EXPECT_EQ(chatty.render(messages_of(chat), now).value(), chat["text"]);
}

// Gemma's templates write the first token and call the assistant "model". That of Gemma 2 knows no
// system role, and says so; that of Gemma 3 puts the system's words before the user's.
TEST(ChatTemplate, RendersThoseOfGemmaAsJinja2Does) {
  const auto gemma = [](const char* name, const std::vector<ChatMessage>& messages) {
    TemporaryFolder folder;
    std::filesystem::copy(data_folder() / name, folder.path() / "chat_template.jinja");
    folder.write("tokenizer_config.json", R"({"bos_token": "<bos>"})");
    return ChatTemplate::load(folder.path()).value().render(messages);
  };
  const std::vector<ChatMessage> turns{{"user", " a "}, {"assistant", "b"}, {"user", "c"}};
  const std::vector<ChatMessage> with_system{{"system", "Be brief."}, {"user", "Hello"}};
  for (const char* name : {"gemma2.jinja", "gemma3.jinja"}) {
    EXPECT_EQ(gemma(name, turns).value(),
              "<bos><start_of_turn>user\na<end_of_turn>\n<start_of_turn>model\nb<end_of_turn>\n"
              "<start_of_turn>user\nc<end_of_turn>\n<start_of_turn>model\n");
    EXPECT_THAT(gemma(name, {{"user", "a"}, {"user", "b"}}).error().message, HasSubstr("Conversation roles must alternate"));
  }
  EXPECT_THAT(gemma("gemma2.jinja", with_system).error().message,
              HasSubstr("the chat template refuses these messages: System role not supported"));
  EXPECT_EQ(gemma("gemma3.jinja", with_system).value(),
            "<bos><start_of_turn>user\nBe brief.\n\nHello<end_of_turn>\n<start_of_turn>model\n");
}

TEST(ChatTemplate, PrefersTheJinjaFileToTheOneInTheConfig) {
  TemporaryFolder folder;
  folder.write("tokenizer_config.json", R"({"chat_template": "config"})");
  EXPECT_EQ(ChatTemplate::load(folder.path()).value().render(kHello).value(), "config");
  folder.write("chat_template.jinja", "file");
  EXPECT_EQ(ChatTemplate::load(folder.path()).value().render(kHello).value(), "file");
}

TEST(ChatTemplate, TakesTheDefaultOfSeveralNamedTemplates) {
  TemporaryFolder folder;
  folder.write("tokenizer_config.json",
               R"({"chat_template": [{"name": "tools", "template": "a"}, {"name": "default", "template": "b"}]})");
  EXPECT_EQ(ChatTemplate::load(folder.path()).value().render(kHello).value(), "b");
}

TEST(ChatTemplate, PassesOnWhatTheTemplateRaises) {
  const auto refused = rendered("\n{{ raise_exception('roles must alternate') }}");
  EXPECT_THAT(refused.error().message, HasSubstr("roles must alternate (line 2 of the template)"));
}

TEST(ChatTemplate, RefusesTemplatesThatAreMissingOrBroken) {
  TemporaryFolder empty;
  EXPECT_THAT(ChatTemplate::load(empty.path()).error().message, HasSubstr("add chat_template.jinja"));
  empty.write("tokenizer_config.json", "{");
  EXPECT_THAT(ChatTemplate::load(empty.path()).error().message, HasSubstr("not valid JSON"));
  EXPECT_THAT(rendered("{% for %}").error().message, HasSubstr("not valid Jinja"));
  EXPECT_THAT(rendered("{{ messages.nothing.there }}").error().message, HasSubstr("refuses these messages"));
  EXPECT_THAT(rendered("\xFF").error().message, HasSubstr("UTF-8"));
}

TEST(ChatTemplate, EndsALoopThatWouldNotEnd) {
  const auto endless = rendered(
      "{% for a in range(9999) %}{% for b in range(9999) %}{% for c in range(9999) %}{% endfor %}{% endfor %}{% endfor %}");
  EXPECT_THAT(endless.error().message, HasSubstr("fuel"));
  EXPECT_FALSE(rendered("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}").has_value());
}

TEST(ChatTemplate, EndsATextThatWouldTakeMuchMemory) {
  const std::vector<ChatMessage> messages(1000, {"user", std::string(40'000, 'x'), ""});
  EXPECT_THAT(rendered("{% for m in messages %}{{ m.content }}{% endfor %}", messages).error().message,
              HasSubstr("over 32 MiB of text"));
}

TEST(ChatTemplate, EndsAJsonTextThatDoublesEachTime) {
  const std::vector<ChatMessage> messages{{"user", std::string(1000, '"'), ""}};
  const auto written = [&](std::string_view times) {
    return rendered("{% set ns = namespace(x=messages[0].content) %}{% for i in range(" + std::string(times) +
                        ") %}{% set ns.x = ns.x | tojson %}{% endfor %}{{ ns.x | length }}",
                    messages);
  };
  EXPECT_TRUE(written("8")) << "it is the size that is refused";
  EXPECT_THAT(written("40").error().message, HasSubstr("a JSON text would have over 32 MiB"));
}

TEST(ChatTemplate, RefusesMessagesThatAreNotUtf8) {
  EXPECT_THAT(rendered("x", {{"user", "\xC3"}}).error().message, HasSubstr("a message is not valid UTF-8 at byte 0"));
}

}  // namespace
}  // namespace slipstream
