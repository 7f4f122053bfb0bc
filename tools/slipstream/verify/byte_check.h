// The first part of verify-lossless: both servers get the same question, and their answers are
// compared byte for byte, by token ids where both give them, and by their finish reason.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/slipstream/verify/draft_use.h"
#include "tools/slipstream/verify/question_pool.h"

namespace slipstream::command::verify {

struct BytesPlan {
  std::vector<std::string> prompts;
  std::vector<int64_t> seeds;
  std::vector<float> temperatures;
  int tokens_max = 0;  // of each answer
};

struct BytesCase {
  size_t prompt = 0;  // index
  int64_t seed = 0;
  float temperature = 0;
};

// Prompts x temperatures x seeds; at temperature 0, where no seed matters, the first only.
std::vector<BytesCase> cases(const BytesPlan& plan);

struct Difference {
  BytesCase where;
  size_t byte = 0;  // the first that differs; one past the shorter text where that is all the longer one's beginning
  std::optional<size_t> token;       // likewise, where both gave ids
  std::string what;                  // "text", "token ids", "finish reason"
  std::string reference, candidate;  // around that place, of the text or of the ids
};

// ids: both sides give token ids.
std::optional<Difference> difference(const BytesCase& where, const Answer& reference, const Answer& candidate, bool ids);

struct BytesResult {
  size_t answers = 0;            // of each side
  size_t bytes = 0, tokens = 0;  // of the reference; tokens: where it gives ids
  DraftUse drafting;
  std::vector<Difference> differences;
};

// Error: a question that got no answer.
Result<BytesResult> compare_bytes(const QuestionPool& pool, const BytesPlan& plan);

}  // namespace slipstream::command::verify
