// A front whose template shows roles, tools, calls and their results, for tests of one API.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/unit/services/router/http_api/front.h"

namespace slipstream {

struct Refused {
  std::string fields, param, words;
};

class ApiStage : public HttpApiTest {
 protected:
  static constexpr std::string_view kTemplate =
      "{%- if tools %}{% for tool in tools %}{{ tool.function.name }} {% endfor %}<tool_call> {% endif %}"
      "{%- for m in messages %}{{ m.role }}: {{ m.content }}"
      "{%- for call in m.tool_calls or [] %}[{{ call.function.name }} {{ call.function.arguments.city }}]{% endfor %}"
      "{%- if m.tool_call_id %} for {{ m.tool_call_id }}{% endif %}; {% endfor %}"
      "{%- if enable_thinking is defined %}thinking {{ enable_thinking }}{% endif %}";
  static constexpr std::string_view kCall = R"(<tool_call>{"name": "weather", "arguments": {"city": "Paris"}}</tool_call>)";

  // hello: the fields of its smallest request.
  ApiStage(std::string path, std::string hello)
      : HttpApiTest(with_template(kTemplate)), path_(std::move(path)), hello_(std::move(hello)) {}

  // The prompt that a request makes.
  std::string prompt(std::string_view fields) {
    auto reply = post(fmt::format("{{{}}}", fields), path_);
    const auto submit = inbox.take<Submit>();
    deliver(submit.request, "x<|im_end|>", Finish::stop);
    EXPECT_EQ(reply.get().status, 200) << fields;
    return tokenizer().decode(submit.prompt, false).value();
  }
  // The answer to hello with more fields; "": none.
  json whole(std::string_view more, std::string_view answer, Finish finish = Finish::stop) {
    auto reply = post(hello(more), path_);
    deliver(inbox.take<Submit>().request, std::string(answer) + (finish == Finish::stop ? "<|im_end|>" : ""), finish);
    return json::parse(reply.get().body);
  }
  // The events of a stream whose answer comes in these pieces.
  std::vector<json> streamed(std::string_view more, const std::vector<std::string>& pieces, Finish finish = Finish::stop) {
    auto stream = this->stream(hello(more, R"(,"stream":true)"), path_);
    const auto submit = inbox.take<Submit>();
    for (const std::string& piece : pieces) deliver(submit.request, piece);
    deliver(submit.request, finish == Finish::stop ? "<|im_end|>" : "", finish);
    std::vector<json> events;
    for (const std::string& event : stream.get().events) events.push_back(json::parse(event));
    return events;
  }
  std::string hello(std::string_view more, std::string_view also = "") const {
    return fmt::format("{{{}{}{}{}}}", hello_, also, more.empty() ? "" : ",", more);
  }

  const std::string path_, hello_;
};

}  // namespace slipstream
