// Decodes one sequence greedily, without a service around it. Each line of stdin is a job: the
// number of tokens wanted, then the token ids of the prompt. Each job prints one line of JSON on
// stdout. Prints the numerics id on stderr once it is ready. bench/peers/compare.py reads the
// output.
//
//   echo 16 1 4093 198 | build/release/bench/decode --model models/smollm2-135m-instruct.gguf
#include <chrono>
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/ranges.h>

#include "bench/one_sequence.h"
#include "bench/text_lines.h"

namespace slipstream {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

struct Job {
  int32_t wanted = 0;
  std::vector<TokenId> prompt;
};

Result<Job> read_job(const std::string& line) {
  std::istringstream words(line);
  Job job;
  words >> job.wanted;
  for (TokenId id = 0; words >> id;) job.prompt.push_back(id);
  if (!words.eof() || job.wanted < 1 || job.prompt.empty())
    return fail("\"{}\" is not a number of tokens and the ids of a prompt", line);
  return job;
}

// The time of the first token counts as prompt time.
Result<void> decode(LanguageModel& model, BlockPool& pool, const std::string& line) {
  TRY(const Job job, read_job(line));
  OneSequence sequence(model, pool);
  const auto asked = Clock::now();
  TRY(TokenId token, sequence.run_prompt(job.prompt));
  const double prompt_s = seconds_since(asked);
  std::vector<TokenId> output{token};
  const auto begun = Clock::now();
  while (static_cast<int32_t>(output.size()) < job.wanted) {
    TRY(token, sequence.run({&token, 1}, false));
    output.push_back(token);
  }
  fmt::print("{{\"prompt_s\": {:.6f}, \"decode_s\": {:.6f}, \"tokens\": [{}]}}\n", prompt_s, seconds_since(begun),
             fmt::join(output, ", "));
  std::fflush(stdout);
  return {};
}

}  // namespace
}  // namespace slipstream

int main(int argc, char** argv) {
  using namespace slipstream;
  return answer_lines(argc, argv, "Decodes prompts greedily, one after the other, and times it", {}, 4096, decode);
}
