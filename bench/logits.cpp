// Writes a model's logits for given texts. Each line of stdin is a text as token ids; for each of
// its tokens, stdout gets the logits of the next one: [tokens, vocabulary] floats in this machine's
// byte order. Prints the numerics id on stderr once it is ready. bench/peers/quality.py reads the
// output.
//
//   echo 1 4093 198 | build/release/bench/logits --model models/smollm2-135m-instruct.gguf --weights q8_0 > three_rows
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

#include "bench/one_sequence.h"
#include "bench/text_lines.h"

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

Result<void> write_logits(LanguageModel& model, BlockPool& pool, const std::string& line) {
  TRY(const auto ids, read_ids(line));
  std::span<const TokenId> tokens = ids;
  OneSequence sequence(model, pool);
  sequence.read_logits();
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

}  // namespace
}  // namespace slipstream

int main(int argc, char** argv) {
  using namespace slipstream;
  return answer_lines(argc, argv, "Writes a model's logits for given texts", {.threads = 1}, 2048, write_logits);
}
