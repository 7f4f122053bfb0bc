// Expected failures are values; broken invariants abort (check.h).
#pragma once

#include <expected>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace slipstream {

// Says what went wrong and what to do about it, in a sentence that a user can read.
struct Error {
  std::string message;
};

template <class T>
using Result = std::expected<T, Error>;

// return fail("{} has {} bytes, the limit is {}", name, size, kLimit);
template <class... Args>
[[nodiscard]] std::unexpected<Error> fail(fmt::format_string<Args...> format, Args&&... args) {
  return std::unexpected(Error{fmt::format(format, std::forward<Args>(args)...)});
}

}  // namespace slipstream

// TRY(auto file, open(path)): binds the value, or returns the error from the enclosing function.
#define SLIPSTREAM_JOIN_(a, b) a##b
#define SLIPSTREAM_JOIN(a, b) SLIPSTREAM_JOIN_(a, b)
#define SLIPSTREAM_TRY_(tmp, declaration, ...)              \
  auto tmp = (__VA_ARGS__);                                 \
  if (!tmp) return std::unexpected(std::move(tmp.error())); \
  declaration = *std::move(tmp)
#define TRY(declaration, ...) SLIPSTREAM_TRY_(SLIPSTREAM_JOIN(try_result_, __LINE__), declaration, __VA_ARGS__)
// TRY_VOID(check(header)): the same for Result<void>.
#define TRY_VOID(...)                                      \
  if (auto try_result = (__VA_ARGS__); !try_result) {      \
    return std::unexpected(std::move(try_result.error())); \
  }
