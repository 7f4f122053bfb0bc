#include "common/model_text/read_tokenizer.h"

#include "common/checkpoint/gguf/file.h"
#include "common/checkpoint/gguf/tokenizer.h"
#include "common/checkpoint/tokenizer_json.h"

namespace slipstream {

Result<Tokenizer> read_tokenizer(const std::filesystem::path& model) {
  if (!is_model_file(model)) {
    TRY(const auto json, tokenizer_json(model));
    return Tokenizer::load(json);
  }
  TRY(const GgufFile file, GgufFile::open(model));
  TRY(const std::string json, gguf_tokenizer_json(file));
  return Tokenizer::parse(json, file.what());
}

}  // namespace slipstream
