// What a model makes of texts: a text a line on stdin, as token ids; for each of its tokens the logits of the next one on
// stdout, [tokens, vocabulary] floats in this machine's order. On stderr, once it is ready: the numerics id. bench/quality.py
// reads it.
//
//   echo 1 4093 198 | build/release/bench/logits --model models/smollm2-135m-instruct.gguf --weights q8_0 > three_rows
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "common/config/kernel_choices.h"
#include "common/kv/block_table.h"
#include "common/model/language_model.h"
#include "common/model/step_plan.h"

namespace slipstream {
namespace {

constexpr int32_t kChunkRows = 64;

struct Options {
  std::string model, path = "auto", weights = "file";
  int threads = 1, context = 2048;
};

Result<std::vector<TokenId>> read_ids(const std::string& line) {
  std::istringstream words(line);
  std::vector<TokenId> ids;
  for (TokenId id = 0; words >> id;) ids.push_back(id);
  if (!words.eof()) return fail("\"{}\" is no line of token ids", line);
  return ids;
}

// Chunk by chunk, as a verifier computes a prompt.
Result<void> write_logits(LanguageModel& model, std::span<const TokenId> tokens, BlockPool& pool) {
  BlockTable blocks(pool);
  const auto count = static_cast<int32_t>(tokens.size());
  if (!blocks.reserve(count)) return fail("a text of {} tokens is longer than --context", count);
  for (int32_t from = 0; from < count; from += kChunkRows) {
    StepPlan plan;
    plan.blocks_max = static_cast<int32_t>(blocks.blocks().size());
    const int32_t sequence = plan.add_sequence(blocks.blocks());
    for (int32_t at = from; at < std::min(count, from + kChunkRows); ++at) {
      plan.add({.token = tokens[static_cast<size_t>(at)],
                .position = at,
                .slot = blocks.slot(at),
                .sequence = sequence,
                .visible = at + 1});
      plan.want({.params = {.temperature = 0}});
    }
    TRY_VOID(model.run(plan.view()));
    const auto logits = model.logits();
    if (std::fwrite(logits.data(), sizeof(float), logits.size(), stdout) != logits.size()) return fail("stdout takes no more");
  }
  std::fflush(stdout);
  return {};
}

Result<void> run(const Options& options) {
  const int32_t blocks = options.context / kBlockTokens + 1;
  TRY(LanguageModel model, LanguageModel::load(options.model, {.threads = options.threads,
                                                               .path = cpu_path(options.path),
                                                               .weights = weight_format(options.weights),
                                                               .cache_blocks = blocks,
                                                               .rows_max = kChunkRows}));
  std::fprintf(stderr, "ready: %s\n", model.numerics_id().c_str());
  BlockPool pool(blocks);
  for (std::string line; std::getline(std::cin, line);) {
    TRY(const auto tokens, read_ids(line));
    TRY_VOID(write_logits(model, tokens, pool));
  }
  return {};
}

}  // namespace
}  // namespace slipstream

int main(int argc, char** argv) {
  slipstream::Options options;
  CLI::App app("Writes a model's logits for given texts");
  app.add_option("--model", options.model, "Hugging Face folder or GGUF file")->required();
  app.add_option("--path", options.path, "instructions; auto: the fastest")
      ->check(CLI::IsMember(slipstream::path_choices()))
      ->capture_default_str();
  app.add_option("--weights", options.weights, "format of the matrices; file: as the file has them")
      ->check(CLI::IsMember(slipstream::weights_choices()))
      ->capture_default_str();
  app.add_option("--threads", options.threads, "compute threads")->capture_default_str();
  app.add_option("--context", options.context, "tokens of the longest text")
      ->capture_default_str()
      ->check(CLI::Range(1, 32768));
  CLI11_PARSE(app, argc, argv);
  if (const auto done = slipstream::run(options); !done) {
    std::fprintf(stderr, "%s\n", done.error().message.c_str());
    return 1;
  }
  return 0;
}
