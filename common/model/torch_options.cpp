#include "common/model/torch_options.h"

#include <fmt/ranges.h>

#include "common/kv/block_pool.h"
#include "kernels/cpu/panels.h"

namespace slipstream {

Result<TorchOptions> torch_options(DeviceName name, std::string_view weights) {
  TorchOptions made{.name = name, .type = Type::bf16};
  const bool gpu = name.kind == DeviceKind::cuda;
  if (weights == "bf16" || (gpu && weights == "file")) return made;
  if (gpu && weights == kSmallWeights) {
    made.small.emplace();
  } else if (const auto format = weight_format(weights); gpu && format) {
    made.small = {.format = format};
  } else if (weights == "f32" || weights == "file") {
    made.type = Type::f32;
  } else if (weights == "f16") {
    made.type = Type::f16;
  } else {
    return fail("{} has no weights {}: choose one of {}{}", gpu ? "cuda:N" : "torch-cpu", weights,
                fmt::join(kTorchWeights, ", "), gpu ? ", small or a format of few bits" : "");
  }
  return made;
}

size_t bytes_of(Type type) { return type == Type::f32 || type == Type::i32 ? sizeof(float) : sizeof(uint16_t); }

size_t torch_cache_bytes(Type type, int layers, AttentionShape shape, int32_t blocks) {
  const int64_t numbers = int64_t{layers} * blocks * shape.kv_heads * 2 * kBlockTokens * shape.head_size;
  return static_cast<size_t>(numbers) * bytes_of(type);
}

}  // namespace slipstream
