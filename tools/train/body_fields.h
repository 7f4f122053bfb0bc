// Arrays in the body of a file, one behind the other, as bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace slipstream::train {

template <class T>
void append(std::string& body, std::span<const T> values) {
  body.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
}
template <class T>
void append(std::string& body, const T& value) {
  append(body, std::span(&value, 1));
}

// Takes values from the front of a body. REQUIRES: it has as many, and the place fits their type.
template <class T>
std::span<const T> take(std::span<const std::byte>& body, int64_t count) {
  const std::span values(reinterpret_cast<const T*>(body.data()), static_cast<size_t>(count));
  body = body.subspan(values.size_bytes());
  return values;
}

}  // namespace slipstream::train
