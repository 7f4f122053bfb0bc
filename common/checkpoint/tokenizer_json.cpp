#include "common/checkpoint/tokenizer_json.h"

namespace slipstream {

Result<std::filesystem::path> tokenizer_json(const std::filesystem::path& folder) {
  std::error_code ignored;
  const auto json = folder / "tokenizer.json";
  if (std::filesystem::exists(json, ignored) || !std::filesystem::exists(folder / "tokenizer.model", ignored)) return json;
  // transformers 5 (5.15) ranks the merges by ids instead of scores, which gives two spaces other
  // tokens than Llama 2's.
  return fail(
      "{0} holds a tokenizer.model (SentencePiece) and no tokenizer.json, which is needed: make one of it with `pip install "
      "'transformers<5' sentencepiece protobuf` and `python3 -c \"from transformers import LlamaTokenizerFast as T; "
      "T.from_pretrained('{0}').save_pretrained('{0}')\"`, or give a GGUF file of the model",
      folder.string());
}

}  // namespace slipstream
