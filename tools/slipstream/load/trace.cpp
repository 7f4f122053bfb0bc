#include "tools/slipstream/load/trace.h"

#include <simdjson.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <utility>

namespace slipstream::command::load {
namespace {

constexpr const char* kExample = R"({"at_ms": 0, "prompt": "Hello!", "max_tokens": 64})";

struct Line {
  double at_ms = 0;
  AskedPrompt prompt;
};

Result<Line> parse_line(simdjson::dom::parser& parser, std::string_view text) {
  const simdjson::padded_string padded(text);
  simdjson::dom::object object;
  if (parser.parse(padded).get(object) != simdjson::SUCCESS) return fail("is no JSON object; write it as {}", kExample);
  Line line;
  if (object["at_ms"].get(line.at_ms) != simdjson::SUCCESS || line.at_ms < 0 || line.at_ms > kTraceMsMax) {
    return fail("needs \"at_ms\", a number from 0 to {:.0f}; write it as {}", kTraceMsMax, kExample);
  }
  std::string_view prompt;
  simdjson::dom::array messages;
  if (object["prompt"].get(prompt) == simdjson::SUCCESS && !prompt.empty()) {
    line.prompt.text = prompt;
  } else if (object["messages"].get(messages) == simdjson::SUCCESS && messages.begin() != messages.end()) {
    line.prompt.messages = simdjson::to_string(messages);
  } else {
    return fail("needs \"prompt\", a text, or \"messages\", a list; write it as {}", kExample);
  }
  simdjson::dom::element given;
  if (object["max_tokens"].get(given) != simdjson::SUCCESS) return line;
  int64_t tokens = 0;
  if (given.get(tokens) != simdjson::SUCCESS || tokens < 1 || tokens > std::numeric_limits<int>::max()) {
    return fail("has a \"max_tokens\" that is no number from 1 on");
  }
  line.prompt.max_tokens = static_cast<int>(tokens);
  return line;
}

}  // namespace

Result<Trace> parse_trace(std::string_view text, double speed) {
  simdjson::dom::parser parser;
  Trace trace;
  double first_ms = 0, before_ms = 0;
  for (size_t number = 1; !text.empty(); ++number) {
    const std::string_view row = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), row.size() + 1));
    if (row.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    if (trace.times.size() == kTraceRequestsMax)
      return fail("it has more than {} requests; replay a part of it", kTraceRequestsMax);
    auto line = parse_line(parser, row);
    if (!line) return fail("line {} {}", number, line.error().message);
    if (trace.times.empty()) first_ms = line->at_ms;
    if (line->at_ms < before_ms) {
      return fail("line {} is at {} ms, before the line above it at {} ms; sort the lines by \"at_ms\"", number, line->at_ms,
                  before_ms);
    }
    before_ms = line->at_ms;
    const std::chrono::duration<double, std::milli> at((line->at_ms - first_ms) / speed);
    trace.times.push_back(std::chrono::duration_cast<Offset>(at));
    trace.prompts.push_back(std::move(line->prompt));
  }
  if (trace.times.empty()) return fail("there is no request in it; write one a line, as in {}", kExample);
  return trace;
}

Result<Trace> read_trace(const std::filesystem::path& file, double speed) {
  std::ifstream stream(file, std::ios::binary);
  std::error_code error;
  const auto bytes = std::filesystem::file_size(file, error);
  if (!stream || error) return fail("cannot read {}; is the path right?", file.string());
  if (bytes > kTraceBytesMax)
    return fail("{} has {} bytes, the limit is {}; replay a part of it", file.string(), bytes, kTraceBytesMax);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  auto trace = parse_trace(text, speed);
  if (!trace) return fail("{}: {}", file.string(), trace.error().message);
  return trace;
}

}  // namespace slipstream::command::load
