// The first part of verify-lossless: asks both servers the same questions and compares the answers
// byte for byte, by token ids where both servers send them, and by finish reason.
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
  int tokens_max = 0;  // longest answer
};

struct BytesCase {
  size_t prompt = 0;  // index into BytesPlan::prompts
  int64_t seed = 0;
  float temperature = 0;
};

// All combinations of prompt, temperature and seed. Temperature 0 uses the first seed only, since
// no seed matters there.
std::vector<BytesCase> cases(const BytesPlan& plan);

struct Difference {
  BytesCase where;
  // The first byte that differs; one past the shorter text if that is a prefix of the longer one.
  size_t byte = 0;
  std::optional<size_t> token;       // the first token that differs, if both servers send ids
  std::string what;                  // "text", "token ids", "finish reason"
  std::string reference, candidate;  // excerpts around the difference, of the text or of the ids
  bool near_tie = false;             // one of the answers says that it had one, or that it may differ
};

// ids: both servers send token ids.
std::optional<Difference> difference(const BytesCase& where, const Answer& reference, const Answer& candidate, bool ids);

struct BytesResult {
  size_t answers = 0;            // of each server
  size_t bytes = 0, tokens = 0;  // of the reference; tokens: only if it sends ids
  DraftUse drafting;
  std::vector<Difference> differences;
};

// Error: a question got no answer.
Result<BytesResult> compare_bytes(const QuestionPool& pool, const BytesPlan& plan);

}  // namespace slipstream::command::verify
