// What the requests of a run ask. Request number n of a mix is the same in every run with the same
// prompts and seed, whichever thread sends it. Pure; thread-safe after construction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace slipstream::command::load {

inline constexpr int kSharedPrefixWordsMax = 100'000;

// One question: a text, or a whole conversation.
struct AskedPrompt {
  std::string text;
  std::string messages;  // a JSON array of OpenAI's messages, instead of the text; "": none
  int max_tokens = 0;    // 0: as in RequestFields
};

// What all requests of a mix share.
struct RequestFields {
  std::string model;
  std::string system;  // a message before each question, as for a shared prefix; "": none
  int max_tokens = 128;
  double temperature = 0;
  uint64_t seed = 0;       // request n gets seed + n
  bool token_ids = false;  // ask for Slipstream's token ids
  std::string more;        // more fields, as a JSON object; they replace ours of the same name; "": none
};

// Checks RequestFields::more. Error: it is no JSON object, or it names a field that the measurement
// needs as it is, or that has a flag of its own (stream, stream_options, messages, n, max_tokens).
Result<void> check_more_fields(const std::string& more);

// A text of so many words that depends on the seed alone, for a system prompt that all requests
// share.
std::string shared_prefix(int words, uint64_t seed);

enum class PromptOrder { as_given, shuffled };

class RequestMix {
 public:
  // The prompts are asked in turn, again from the first after the last. shuffled: in an order that
  // depends on fields.seed. REQUIRES: at least one prompt, check_more_fields(fields.more).
  RequestMix(std::vector<AskedPrompt> prompts, RequestFields fields, PromptOrder order);

  size_t size() const { return prompts_.size(); }
  const RequestFields& fields() const { return fields_; }
  int max_tokens(size_t number) const;
  std::string body(size_t number) const;  // JSON for /v1/chat/completions

 private:
  std::vector<AskedPrompt> prompts_;
  RequestFields fields_;
};

}  // namespace slipstream::command::load
