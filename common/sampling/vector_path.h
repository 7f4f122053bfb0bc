// Runs a loop in the widest vectors this processor has. The loop is written once, in plain C++; the compiler makes one copy of
// it for each instruction set, and all copies give equal bits, since no sum of floats is reordered and nothing is contracted.
#pragma once

namespace slipstream {

enum class VectorPath { portable, v3, v4 };  // the psABI's levels of x86-64: v3 has AVX2, v4 the first AVX-512

// What this processor has at best. A test may lower it, while nobody else samples.
inline VectorPath& vector_path() {
#ifdef __x86_64__
  static VectorPath path = __builtin_cpu_supports("x86-64-v4")   ? VectorPath::v4
                           : __builtin_cpu_supports("x86-64-v3") ? VectorPath::v3
                                                                 : VectorPath::portable;
#else
  static VectorPath path = VectorPath::portable;
#endif
  return path;
}

#ifdef __x86_64__
template <auto Loop, class... Args>
[[gnu::target("arch=x86-64-v4")]] auto on_v4(Args... args) {
  return Loop(args...);
}
template <auto Loop, class... Args>
[[gnu::target("arch=x86-64-v3")]] auto on_v3(Args... args) {
  return Loop(args...);
}
#endif

// constexpr auto loop = [](const float* row, size_t size) __attribute__((always_inline)) { ... };
// on_vectors<loop>(row, size);
template <auto Loop, class... Args>
auto on_vectors(Args... args) {
#ifdef __x86_64__
  if (vector_path() == VectorPath::v4) return on_v4<Loop>(args...);
  if (vector_path() == VectorPath::v3) return on_v3<Loop>(args...);
#endif
  return Loop(args...);
}

}  // namespace slipstream
