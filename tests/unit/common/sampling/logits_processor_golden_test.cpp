// The adjuster against Hugging Face's logits processors, to the bit
// (make_logits_processor_golden.py).
#include <cmath>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "common/sampling/logits_processor.h"
#include "tests/unit/common/sampling/adjust.h"

namespace slipstream {
namespace {

using nlohmann::json;

LogitsParams logits_params_of(const json& row) {
  LogitsParams how{.repetition_penalty = row["repetition_penalty"],
                   .min_tokens = row["min_tokens"],
                   .stop_ids = row["stop_ids"],
                   .bad_words = row["bad_words"],
                   .allowed = row["allowed"]};
  for (const json& each : row["bias"]) how.bias.push_back({each[0], each[1]});
  return how;
}

TEST(LogitsProcessorGolden, GivesWhatHuggingFacesProcessorsGive) {
  std::ifstream file(SLIPSTREAM_SOURCE_FOLDER "/tests/unit/common/sampling/logits_processor_golden.json");
  const json rows = json::parse(file);
  ASSERT_GE(rows.size(), 20U);
  for (const json& row : rows) {
    const std::vector<TokenId> prompt = row["prompt"], output = row["output"];
    for (const size_t drafted : {size_t{0}, output.size()}) {
      LogitsProcessor logits_processor(logits_params_of(row));
      logits_processor.add_prompt(prompt);
      logits_processor.add_output(std::span(output).first(output.size() - drafted));
      std::vector<float> logits = row["logits"];
      adjust(logits_processor, logits, std::span(output).last(drafted));
      for (size_t v = 0; v < logits.size(); ++v) {
        const json& expected = row["expected"][v];
        EXPECT_EQ(logits[v], expected.is_null() ? -INFINITY : expected.get<float>()) << "token " << v << " of " << row;
      }
    }
  }
}

}  // namespace
}  // namespace slipstream
