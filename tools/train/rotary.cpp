#include "tools/train/rotary.h"

#include <cmath>

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>

#include "common/checkpoint/rope_frequencies.h"

namespace slipstream::train {

Rotary::Rotary(const LlamaConfig& config, int64_t positions, at::Device device) {
  const std::vector<float> frequencies = rope_frequencies(config);
  const auto half = static_cast<int64_t>(frequencies.size());
  cosine_ = at::empty({positions, half});
  sine_ = at::empty({positions, half});
  auto* cosine = cosine_.mutable_data_ptr<float>();
  auto* sine = sine_.mutable_data_ptr<float>();
  for (int64_t position = 0; position < positions; ++position) {
    for (const float frequency : frequencies) {
      const double angle = static_cast<float>(position) * frequency;  // the product is rounded to f32, as in the served network
      *cosine++ = static_cast<float>(std::cos(angle));
      *sine++ = static_cast<float>(std::sin(angle));
    }
  }
  cosine_ = cosine_.to(device);
  sine_ = sine_.to(device);
}

at::Tensor Rotary::rotate(const at::Tensor& x, int64_t first) const {
  const int64_t length = x.size(2), half = cosine_.size(1);
  const at::Tensor cosine = cosine_.narrow(0, first, length), sine = sine_.narrow(0, first, length);
  const at::Tensor low = x.narrow(3, 0, half), high = x.narrow(3, half, half);
  return at::cat({low * cosine - high * sine, high * cosine + low * sine}, 3).to(x.scalar_type());
}

}  // namespace slipstream::train
