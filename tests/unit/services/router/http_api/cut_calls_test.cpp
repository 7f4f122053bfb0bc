// Answers that are a call of a tool or a document, and are cut before they are a whole call.
#include "tests/data/grammars.h"
#include "tests/unit/services/router/http_api/front.h"

namespace slipstream {
namespace {

using testing::AllOf;
using testing::Not;

constexpr std::string_view kPython = "{{ tools | tojson if tools }}[func_name1({{ messages[0].content }}";

struct Api {
  std::string_view path, fields;
};

class CutCall : public HttpApiTest {
 protected:
  explicit CutCall(std::string_view jinja = "{{ tools | tojson if tools }}<tool_call>{{ messages[0].content }}")
      : HttpApiTest(with_grammars(jinja)) {}

  static ServedModel with_grammars(std::string_view jinja) {
    ServedModel served = with_template(jinja);
    served.vocabulary = small_vocabulary();
    served.grammars = small_grammars();
    served.offer.ollama = true;
    return served;
  }
  std::string whole(const Api& api, std::string_view written) {
    auto reply = post(fmt::format(R"({{{},"stream":false}})", api.fields), std::string(api.path));
    deliver(inbox.take<Submit>().request, written, Finish::length);
    return reply.get().body;
  }
  std::string streamed(const Api& api, std::string_view written) {
    auto reply = post(fmt::format(R"({{{},"stream":true}})", api.fields), std::string(api.path));
    const auto submit = inbox.take<Submit>();
    for (const char letter : written) deliver(submit.request, std::string(1, letter));
    deliver(submit.request, "", Finish::length);
    return reply.get().body;
  }
  std::string content(std::string_view written) {
    const json message = json::parse(whole(kApis[0], written))["choices"][0]["message"];
    return message["content"].is_null() ? "" : message["content"].get<std::string>();
  }

  static constexpr Api kApis[] = {
      {"/v1/chat/completions",
       R"("messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"zoo"}}],
          "response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"type":"array"}}})"},
      {"/v1/responses",
       R"("input":"hi","tools":[{"type":"function","name":"zoo"}],
          "text":{"format":{"type":"json_schema","name":"n","schema":{"type":"array"}}})"},
      {"/v1/messages",
       R"("messages":[{"role":"user","content":"hi"}],"max_tokens":9,"tools":[{"name":"zoo","input_schema":{"type":"object"}}],
          "output_config":{"format":{"type":"json_schema","schema":{"type":"array"}}})"},
      {"/api/chat",
       R"("model":"demo","messages":[{"role":"user","content":"hi"}],
          "tools":[{"type":"function","function":{"name":"zoo"}}],"format":{"type":"array"})"}};
};

TEST_F(CutCall, ShowsNothingOfItsMarksInAnyApi) {
  for (const Api& api : kApis) {
    for (const std::string_view written : {"<tool", "<tool_call>\n{\"name\": \"zo",
                                           "<tool_call>\n{\"name\": \"zoo\", \"arguments\": {}}\n</tool_call>\n<tool_c"}) {
      EXPECT_THAT(whole(api, written), Not(HasSubstr("<tool"))) << api.path << written;
      EXPECT_THAT(streamed(api, written), Not(HasSubstr("<tool"))) << api.path << written;
    }
  }
}

TEST_F(CutCall, IsNoDocumentThatIsCut) {
  for (const std::string_view document : {"[1, ", "[", "[\"<tool_call>"}) EXPECT_EQ(content(document), document);
  EXPECT_THAT(streamed(kApis[0], "[12"), AllOf(HasSubstr(R"("content":"[")"), HasSubstr(R"("content":"1")")));
}

struct CutPythonCall : CutCall {
  CutPythonCall() : CutCall(kPython) {}
};

TEST_F(CutPythonCall, IsToldFromADocumentByItsName) {
  EXPECT_EQ(content("[zo"), "");
  EXPECT_EQ(content("[zoo()"), "");
  EXPECT_EQ(content("[true_zoo("), "");
  EXPECT_EQ(content("[null("), "");
  for (const std::string_view document : {"[", "[t", "[true, ", "[true]", "[nul", "[{\"zoo"})
    EXPECT_EQ(content(document), document);
}

}  // namespace
}  // namespace slipstream
