#include "tools/slipstream/load/stream_reader.h"

#include <simdjson.h>

#include <string>
#include <utility>

#include <fmt/format.h>

namespace slipstream::command::load {
namespace {

using Element = simdjson::simdjson_result<simdjson::dom::element>;

bool has_text(Element delta, const char* field) {
  std::string_view text;
  return delta[field].get(text) == simdjson::SUCCESS && !text.empty();
}

bool brings_text(simdjson::dom::element root) {
  const Element delta = root["choices"].at(0)["delta"];
  simdjson::dom::array calls;
  return has_text(delta, "content") || has_text(delta, "reasoning_content") || has_text(delta, "reasoning") ||
         (delta["tool_calls"].get(calls) == simdjson::SUCCESS && calls.size() > 0);
}

void count(Element field, std::optional<int>& into) {
  int64_t number = 0;
  if (field.get(number) == simdjson::SUCCESS) into = static_cast<int>(number);
}

}  // namespace

struct StreamReader::Parser {
  simdjson::dom::parser json;
};

StreamReader::StreamReader(Sample& sample, size_t chunks_max)
    : sample_(sample), chunks_max_(chunks_max), parser_(std::make_unique<Parser>()) {}
StreamReader::~StreamReader() = default;

bool StreamReader::give_up(Ending ending, std::string problem) {
  sample_.ending = ending;
  sample_.problem = std::move(problem);
  gave_up_ = true;
  return false;
}

bool StreamReader::event(std::string_view data, Offset now) {
  fresh_tokens_ = 0;
  if (data == "[DONE]") {
    finished_ = any_;  // alone it is no answer
    return true;       // read to the end of the stream, so that the connection can be used again
  }
  const simdjson::padded_string padded(data);
  simdjson::dom::element root;
  if (parser_->json.parse(padded).get(root) != simdjson::SUCCESS) {
    return give_up(Ending::no_answer, "the server sent an event that is no JSON; is the URL that of an OpenAI-style API?");
  }
  any_ = true;
  std::string_view text;
  simdjson::dom::element error;
  if (root["error"].get(error) == simdjson::SUCCESS && !error.is_null()) {
    const bool known = error["message"].get(text) == simdjson::SUCCESS || error.get(text) == simdjson::SUCCESS;
    return give_up(Ending::server_error, known ? std::string(text) : simdjson::minify(error));
  }
  simdjson::dom::array ids;
  const bool knows = root["slipstream"]["token_ids"].get(ids) == simdjson::SUCCESS;
  if ((knows && ids.size() > 0) || brings_text(root)) {
    if (sample_.chunks.size() == chunks_max_) {
      return give_up(
          Ending::endless,
          fmt::format("the answer has more than {} chunks and does not end: it should have kept to max_tokens", chunks_max_));
    }
    fresh_tokens_ = knows ? static_cast<int>(ids.size()) : 1;
    sample_.chunks.push_back({now, fresh_tokens_});
    sample_.chunk_tokens_known = knows && (sample_.chunks.size() == 1 || sample_.chunk_tokens_known);
  }
  if (root["choices"].at(0)["finish_reason"].get(text) == simdjson::SUCCESS) finished_ = true;
  const Element usage = root["usage"];
  count(usage["prompt_tokens"], sample_.tokens_in);
  count(usage["completion_tokens"], sample_.tokens_out);
  count(usage["prompt_tokens_details"]["cached_tokens"], sample_.tokens_cached);
  return true;
}

void StreamReader::end() {
  if (gave_up_) return;
  if (finished_) {
    sample_.ending = Ending::complete;
  } else if (any_) {
    give_up(Ending::broke_off, "the stream ended before the answer did; the server's log may say why");
  } else {
    give_up(Ending::no_answer, "the server answered 200 without a stream of events; is the URL that of an OpenAI-style API?");
  }
}

}  // namespace slipstream::command::load
