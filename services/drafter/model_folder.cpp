#include "services/drafter/model_folder.h"

#include <utility>

#include "common/checkpoint/fingerprint.h"
#include "common/checkpoint/llama_config.h"

namespace slipstream {

Result<Fingerprint> read_token_fingerprint(const std::filesystem::path& model) {
  TRY(const uint64_t tokenizer, hash_tokenizer(model));
  // The end-of-sequence ids are part of the fingerprint: verifier and drafter must end at the same
  // ones.
  TRY(LlamaConfig config, read_llama_config(model));
  return Fingerprint{
      .tokenizer = tokenizer, .vocabulary = config.vocabulary, .eos_ids = std::move(config.eos_ids), .weights = 0};
}

}  // namespace slipstream
