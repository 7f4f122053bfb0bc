#include "common/model_text/read_chat_template.h"

#include "common/checkpoint/gguf/file.h"
#include "common/checkpoint/gguf/tokenizer.h"

namespace slipstream {

Result<ChatTemplate> read_chat_template(const std::filesystem::path& model) {
  if (!is_model_file(model)) return ChatTemplate::load(model);
  TRY(const GgufFile file, GgufFile::open(model));
  TRY(const std::string config, gguf_tokenizer_config(file));
  return ChatTemplate::parse({}, config, file.what());
}

}  // namespace slipstream
