#include "tools/slipstream/verify/prompts.h"

#include <simdjson.h>

#include <fstream>
#include <iterator>

namespace slipstream::command::verify {
namespace {

bool blank(std::string_view line) { return line.find_first_not_of(" \t") == std::string_view::npos; }

Result<std::string> prompt_of(simdjson::dom::parser& parser, std::string_view line, size_t number) {
  const simdjson::padded_string padded(line);
  simdjson::dom::element entry;
  if (parser.parse(padded).get(entry) != simdjson::SUCCESS) {
    return fail("line {} is no JSON; in a file whose first line is JSON, each line must be", number);
  }
  std::string_view prompt;
  const bool found = entry.get(prompt) == simdjson::SUCCESS || entry["prompt"].get(prompt) == simdjson::SUCCESS ||
                     entry["text"].get(prompt) == simdjson::SUCCESS;
  if (!found) return fail("line {} has no prompt; write a string, or an object with a string \"prompt\"", number);
  if (prompt.empty()) return fail("line {} has an empty prompt; write at least one word", number);
  return std::string(prompt);
}

}  // namespace

// The first prompt also serves the distribution part, which compares a few tokens only. It asks for
// a repetition, so that look-up proposes some of them.
std::vector<std::string> built_in_prompts() {
  return {
      "Repeat this sentence five times: the quick brown fox jumps over the lazy dog.",
      "Why is the sky blue? Answer in two sentences.",
      "Write a C function that returns the larger of two integers, then the same function for three integers.",
      "Count from one to thirty in words.",
      "Translate to French, German and Spanish: \"The train leaves at eight o'clock.\"",
      "Copy this list, sorted by name: pear 4, apple 2, plum 9, fig 1, cherry 7.",
      "Schreibe drei kurze Sätze über den Fluss Rhein, mit Umlauten: ä, ö, ü.",
      "Tell a very short story about a lighthouse keeper and a storm.",
  };
}

Result<std::vector<std::string>> parse_prompts(std::string_view text) {
  simdjson::dom::parser parser;
  std::vector<std::string> prompts;
  bool json = false;
  for (size_t number = 1; !text.empty(); ++number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (blank(line)) continue;
    if (prompts.empty()) json = line.starts_with('{') || line.starts_with('"');
    if (json) {
      TRY(std::string prompt, prompt_of(parser, line, number));
      prompts.push_back(std::move(prompt));
    } else {
      prompts.emplace_back(line);
    }
  }
  if (prompts.empty()) return fail("there is no prompt in it; write one a line");
  return prompts;
}

Result<std::vector<std::string>> read_prompts(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return fail("cannot read {}; is the path right?", file.string());
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  auto prompts = parse_prompts(text);
  if (!prompts) return fail("{}: {}", file.string(), prompts.error().message);
  return prompts;
}

}  // namespace slipstream::command::verify
