#include "common/checkpoint/llama_config.h"

#include <algorithm>
#include <cmath>

#include "common/base/limits.h"
#include "common/checkpoint/gguf/config.h"
#include "common/checkpoint/hf_config.h"

namespace slipstream {

Result<LlamaConfig> read_llama_config(const std::filesystem::path& model) {
  if (!is_model_file(model)) return read_hf_config(model);
  TRY(const GgufFile file, GgufFile::open(model));
  return read_gguf_config(file);
}

float YarnScaling::usual_attention_factor(float factor) {
  return factor <= 1 ? 1.0F : static_cast<float>(0.1 * std::log(double{factor}) + 1.0);
}

void set_window(int64_t window, LlamaConfig& config) {
  if (window < config.context_max) config.attention_window = static_cast<int32_t>(window);
}

Result<void> check_llama_shape(const LlamaConfig& config, const std::string& what) {
  if (config.heads % config.kv_heads != 0) {  // grouped-query attention: equal groups
    return fail("{}: {} attention heads cannot share {} key-value heads evenly", what, config.heads, config.kv_heads);
  }
  if (config.head_size > kHeadSizeMax || int64_t{config.heads} * config.head_size > kHiddenMax) {
    return fail("{}: heads of {} numbers x {} are over the limits {} and {}", what, config.head_size, config.heads,
                kHeadSizeMax, kHiddenMax);
  }
  if (config.head_size % 2 != 0 || config.hidden % 2 != 0 || config.intermediate % 2 != 0) {
    return fail("{}: odd head, hidden or intermediate sizes are not supported", what);
  }
  return {};
}

Result<std::vector<TokenId>> checked_eos(std::vector<int64_t> ids, int32_t vocabulary, const std::string& field) {
  if (ids.empty() || ids.size() > kStopIdsMax) {
    return fail("{} lists {} ids, supported are 1 to {}", field, ids.size(), kStopIdsMax);
  }
  if (!std::ranges::all_of(ids, [&](int64_t id) { return id >= 0 && id < vocabulary; })) {
    return fail("{} must hold ids of the vocabulary, which has {}", field, vocabulary);
  }
  std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return std::vector<TokenId>(ids.begin(), ids.end());
}

}  // namespace slipstream
