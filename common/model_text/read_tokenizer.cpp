#include "common/model_text/read_tokenizer.h"

#include "common/checkpoint/gguf/file.h"
#include "common/checkpoint/gguf/tokenizer.h"

namespace slipstream {

Result<Tokenizer> read_tokenizer(const std::filesystem::path& model) {
  if (!is_model_file(model)) return Tokenizer::load(model / "tokenizer.json");
  TRY(const GgufFile file, GgufFile::open(model));
  TRY(const std::string json, gguf_tokenizer_json(file));
  return Tokenizer::parse(json, file.what());
}

}  // namespace slipstream
