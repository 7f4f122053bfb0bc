// Runs a loop in the widest vectors this processor has. The loop is written once, in plain C++; the compiler makes one copy of
// it for each instruction set, and all copies give equal bits, since no sum of floats is reordered and nothing is contracted.
#pragma once

namespace slipstream {

// on_vectors<[](auto... args) [[gnu::always_inline]] { ... }>(args...)
#ifdef __x86_64__
template <auto Loop, class... Args>
[[gnu::target("arch=x86-64-v4")]] auto on_vectors_v4(Args... args) {
  return Loop(args...);
}
template <auto Loop, class... Args>
[[gnu::target("arch=x86-64-v3")]] auto on_vectors_v3(Args... args) {
  return Loop(args...);
}
template <auto Loop, class... Args>
auto on_vectors(Args... args) {
  static const bool v4 = __builtin_cpu_supports("x86-64-v4"), v3 = __builtin_cpu_supports("x86-64-v3");
  if (v4) return on_vectors_v4<Loop>(args...);
  if (v3) return on_vectors_v3<Loop>(args...);
  return Loop(args...);
}
#else
template <auto Loop, class... Args>
auto on_vectors(Args... args) {
  return Loop(args...);
}
#endif

}  // namespace slipstream
