#include "services/router/http_api/completion_format.h"

#include "tests/unit/services/router/http_api/front.h"

namespace slipstream {
namespace {

// A subject that shares this stage.
using PlainChunks = HttpApiTest;

// A chunk of text alone is put together from pieces that were made once; it says the same as one
// that is written whole. Whatever the text spells, it is in its place.
TEST_F(PlainChunks, SayWhatOthersSay) {
  const auto chunks = [&](const std::string& path, const std::string& fields) {
    const bool chat = path == "/v1/chat/completions";
    const std::string prompt = chat ? R"("messages":[{"role":"user","content":"a"}])" : R"("prompt":"a")";
    auto streamed = stream(fmt::format(R"({{{},"stream":true{}}})", prompt, fields), path);
    const auto submit = inbox.take<Submit>();
    for (const std::string_view text : {R"("content":"")", R"("text":"" \ )", "\n{", "x"}) deliver(submit.request, text);
    deliver(submit.request, "y", Finish::length);
    std::vector<json> read;
    for (const std::string& event : streamed.get().events) {
      json chunk = json::parse(event, nullptr, false);
      if (chunk.is_discarded()) continue;  // [DONE]
      for (const char* own : {"id", "created", "slipstream"}) chunk.erase(own);
      read.push_back(std::move(chunk));
    }
    return read;
  };
  for (const std::string path : {"/v1/chat/completions", "/v1/completions"}) {
    for (const std::string fields :
         {R"(,"seed":7)", R"(,"service_tier":"flex")", R"(,"stream_options":{"include_usage":true})"}) {
      const auto plain = chunks(path, fields);
      EXPECT_EQ(plain, chunks(path, fields + R"(,"slipstream":{"tokens":true})")) << path << fields;
      EXPECT_GE(plain.size(), 6U);
    }
  }
}

}  // namespace
}  // namespace slipstream
