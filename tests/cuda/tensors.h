// Tensors of each element type on the device, as floats on the host.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/cuda/element.h"
#include "kernels/exact/half.h"
#include "tests/cuda/device.h"

namespace slipstream::cuda {

// A number in 16 bits, and what it is.
inline uint16_t rounded(Element element, float value) {
  return element == Element::bf16 ? f32_to_bf16(value) : f32_to_f16(value);
}
inline float number(Element element, uint16_t bits) { return element == Element::bf16 ? bf16_to_f32(bits) : f16_to_f32(bits); }

// What an element keeps of a number.
inline std::vector<float> kept(Element element, std::vector<float> values) {
  if (element == Element::f32) return values;
  for (float& value : values) value = number(element, rounded(element, value));
  return values;
}

// How far a result of about `size` may be off: some ulps of f32, or half an ulp of 16 bits. Below
// 2^-14 an ulp of f16 is 2^-24.
inline float tolerance(Element element, float size) {
  if (element == Element::f16) return std::max(size * 0x1p-11F, 0x1p-25F);
  return size * (element == Element::f32 ? 1e-6F : 0x1p-8F);
}

class Elements {
 public:
  Elements(const std::string& name, Element element, size_t count)
      : element_(element), wide_(name, element == Element::f32 ? count : 0), half_(name, element == Element::f32 ? 0 : count) {}
  Elements(const std::string& name, Element element, const std::vector<float>& values, bool input = true)
      : element_(element),
        wide_(name, element == Element::f32 ? values : std::vector<float>{}, input),
        half_(name, halves(element, values), input) {}

  void* data() { return element_ == Element::f32 ? static_cast<void*>(wide_.data()) : half_.data(); }
  std::vector<float> host() const {
    if (element_ == Element::f32) return wide_.host();
    std::vector<float> values;
    for (const uint16_t bits : half_.host()) values.push_back(number(element_, bits));
    return values;
  }

 private:
  static std::vector<uint16_t> halves(Element element, const std::vector<float>& values) {
    std::vector<uint16_t> bits;
    for (const float value : values) {
      if (element != Element::f32) bits.push_back(rounded(element, value));
    }
    return bits;
  }

  Element element_;
  DeviceArray<float> wide_;
  DeviceArray<uint16_t> half_;
};

}  // namespace slipstream::cuda
