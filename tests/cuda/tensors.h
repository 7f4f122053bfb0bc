// Tensors of either element type on the device, as floats on the host.
#pragma once

#include <string>
#include <vector>

#include "kernels/cuda/element.h"
#include "kernels/exact/half.h"
#include "tests/cuda/device.h"

namespace slipstream::cuda {

// What an element keeps of a number.
inline std::vector<float> kept(Element element, std::vector<float> values) {
  if (element == Element::f32) return values;
  for (float& value : values) value = bf16_to_f32(f32_to_bf16(value));
  return values;
}

inline std::vector<uint16_t> rounded(const std::vector<float>& values) {
  std::vector<uint16_t> bits;
  for (const float value : values) bits.push_back(f32_to_bf16(value));
  return bits;
}

// How far a result of about `size` may be off: some ulps of f32, or half an ulp of bf16.
inline float tolerance(Element element, float size) { return size * (element == Element::f32 ? 1e-6F : 0x1p-8F); }

class Elements {
 public:
  Elements(const std::string& name, Element element, size_t count)
      : element_(element), wide_(name, element == Element::f32 ? count : 0), half_(name, element == Element::f32 ? 0 : count) {}
  Elements(const std::string& name, Element element, const std::vector<float>& values, bool input = true)
      : element_(element),
        wide_(name, element == Element::f32 ? values : std::vector<float>{}, input),
        half_(name, element == Element::f32 ? std::vector<uint16_t>{} : rounded(values), input) {}

  void* data() { return element_ == Element::f32 ? static_cast<void*>(wide_.data()) : half_.data(); }
  std::vector<float> host() const {
    if (element_ == Element::f32) return wide_.host();
    std::vector<float> values;
    for (const uint16_t bits : half_.host()) values.push_back(bf16_to_f32(bits));
    return values;
  }

 private:
  Element element_;
  DeviceArray<float> wide_;
  DeviceArray<uint16_t> half_;
};

}  // namespace slipstream::cuda
