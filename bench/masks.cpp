// What the masks of a grammar cost, with a model's own vocabulary: documents of several schemas are
// followed token by token.
//
//   build/release/bench/masks models/smollm2-135m-instruct.gguf
//
// `mask` is what that of the root costs, `on a path` those of the ten tokens behind it, each for
// itself, and `advance` what it costs to follow the output by a token.
#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "common/checkpoint/llama_config.h"
#include "common/grammar/grammar.h"
#include "common/model_text/read_tokenizer.h"

namespace slipstream {
namespace {

struct Document {
  std::string_view name;
  std::string_view schema, text;
};

constexpr Document kDocuments[] = {
    {"a record",
     R"({"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer"},"city":{"type":"string"},"likes_music":{"type":"boolean"}},"required":["name","age","city","likes_music"],"additionalProperties":false})",
     R"({"name": "Ann Miller", "age": 42, "city": "Bern", "likes_music": true})"},
    {"labels",
     R"({"type":"object","properties":{"sentiment":{"enum":["positive","negative","neutral"]},"language":{"enum":["English","French","German"]},"is_question":{"type":"boolean"},"priority":{"enum":["low","medium","high"]}},"required":["sentiment","language","is_question","priority"],"additionalProperties":false})",
     R"({"sentiment": "positive", "language": "French", "is_question": false, "priority": "medium"})"},
    {"a list",
     R"({"type":"object","properties":{"items":{"type":"array","minItems":2,"maxItems":5,"items":{"type":"object","properties":{"title":{"type":"string"},"price":{"type":"integer"},"in_stock":{"type":"boolean"}},"required":["title","price","in_stock"],"additionalProperties":false}}},"required":["items"],"additionalProperties":false})",
     R"({"items": [{"title": "Green tea", "price": 12, "in_stock": true}, {"title": "Black tea", "price": 9, "in_stock": false}, {"title": "Cup", "price": 3, "in_stock": true}]})"},
    {"prose in JSON",
     R"({"type":"object","properties":{"summary":{"type":"string","minLength":100,"maxLength":400}},"required":["summary"],"additionalProperties":false})",
     R"({"summary": "The old lighthouse stands on a rock in front of the harbour, and its keeper has not left it for thirty years, which he says is long enough."})"},
};

double seconds_since(std::chrono::steady_clock::time_point began) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

int measure(const std::string& model) {
  const Tokenizer tokenizer = read_tokenizer(model).value();
  const LlamaConfig config = read_llama_config(model).value();
  const Grammars grammars = Grammars::make(tokenizer, config.eos_ids, config.vocabulary).value();
  for (const Document& document : kDocuments) {
    const std::vector<TokenId> ids = tokenizer.encode(document.text, false).value();
    std::vector<double> advance, mask, deep;
    for (int turn = 0; turn < 20; ++turn) {
      Grammar grammar = grammars.compile({GrammarForm::json_schema, std::string(document.schema)}).value();
      for (size_t at = 0; at < ids.size(); ++at) {
        auto began = std::chrono::steady_clock::now();
        if (!grammar.allowed_after({}).value().allows(ids[at]))
          return fmt::print("{} forbids its token {}\n", document.name, at), 1;
        mask.push_back(seconds_since(began));
        const size_t ahead = std::min<size_t>(10, ids.size() - at);
        began = std::chrono::steady_clock::now();
        for (size_t path = 1; path <= ahead; ++path) grammar.allowed_after(std::span(ids).subspan(at, path)).value();
        deep.push_back(seconds_since(began) / static_cast<double>(ahead));
        began = std::chrono::steady_clock::now();
        if (!grammar.advance(std::span(ids).subspan(at, 1)))
          return fmt::print("{} forbids its token {}\n", document.name, at), 1;
        advance.push_back(seconds_since(began));
      }
    }
    const auto show = [](std::vector<double> times) {
      std::ranges::sort(times);
      double sum = 0;
      for (const double time : times) sum += time;
      return fmt::format("mean {:5.0f} median {:5.0f} p99 {:5.0f} us", sum / static_cast<double>(times.size()) * 1e6,
                         times[times.size() / 2] * 1e6, times[times.size() * 99 / 100] * 1e6);
    };
    fmt::print("{:14} mask {}; on a path {}; advance {}\n", document.name, show(mask), show(deep), show(advance));
  }
  return 0;
}

}  // namespace
}  // namespace slipstream

int main(int argc, char** argv) {
  CLI::App app("Measures the masks of grammars.");
  std::string model;
  app.add_option("model", model)->required();
  CLI11_PARSE(app, argc, argv);
  return slipstream::measure(model);
}
