// What a model makes of texts: a text a line on stdin, as token ids; for each of its tokens the logits of the next one on
// stdout, [tokens, vocabulary] floats in this machine's order. On stderr, once it is ready: the numerics id. bench/peers/quality.py
// reads it.
//
//   echo 1 4093 198 | build/release/bench/logits --model models/smollm2-135m-instruct.gguf --weights q8_0 > three_rows
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "bench/model_flags.h"
#include "bench/one_sequence.h"

namespace slipstream {
namespace {

constexpr size_t kChunkRows = 64;

Result<std::vector<TokenId>> read_ids(const std::string& line) {
  std::istringstream words(line);
  std::vector<TokenId> ids;
  for (TokenId id = 0; words >> id;) ids.push_back(id);
  if (!words.eof()) return fail("\"{}\" is no line of token ids", line);
  return ids;
}

Result<void> write_logits(LanguageModel& model, std::span<const TokenId> tokens, BlockPool& pool) {
  OneSequence sequence(model, pool);
  while (!tokens.empty()) {
    const auto chunk = tokens.first(std::min(tokens.size(), kChunkRows));
    TRY_VOID(sequence.run(chunk, true));
    const auto logits = model.logits();
    if (std::fwrite(logits.data(), sizeof(float), logits.size(), stdout) != logits.size()) return fail("stdout takes no more");
    tokens = tokens.subspan(chunk.size());
  }
  std::fflush(stdout);
  return {};
}

Result<void> run(const ModelFlags& flags, int32_t context) {
  const int32_t blocks = blocks_of_a_sequence(context);
  TRY(LanguageModel model, flags.load(blocks));
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
  slipstream::ModelFlags flags{.threads = 1};
  int32_t context = 2048;
  CLI::App app("Writes a model's logits for given texts");
  flags.add_to(app);
  app.add_option("--context", context, "tokens of the longest text")->capture_default_str()->check(CLI::Range(1, 32768));
  CLI11_PARSE(app, argc, argv);
  if (const auto done = slipstream::run(flags, context); !done) {
    std::fprintf(stderr, "%s\n", done.error().message.c_str());
    return 1;
  }
  return 0;
}
