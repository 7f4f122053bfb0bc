// Result<T> is a value or an Error. Functions return it for failures that can happen to a correct
// program: bad input, a full disk, a lost peer. A broken invariant aborts instead (check.h).
#pragma once

#include <expected>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace slipstream {

// A sentence for the user: what went wrong, and what to do about it.
struct Error {
  std::string message;
  // The same may succeed later, though nobody mends anything: others hold the memory, a GPU is not
  // up yet. Where a service starts, it says whether starting again helps (service/service_main.h).
  bool passing = false;
};

template <class T>
using Result = std::expected<T, Error>;

// Makes the error of a Result:
//
//   return fail("{} has {} bytes, the limit is {}", name, size, kLimit);
template <class... Args>
[[nodiscard]] std::unexpected<Error> fail(fmt::format_string<Args...> format, Args&&... args) {
  return std::unexpected(Error{fmt::format(format, std::forward<Args>(args)...)});
}

// The same of what may pass.
template <class... Args>
[[nodiscard]] std::unexpected<Error> fail_for_now(fmt::format_string<Args...> format, Args&&... args) {
  return std::unexpected(Error{fmt::format(format, std::forward<Args>(args)...), /*passing=*/true});
}

}  // namespace slipstream

// TRY evaluates a Result. It binds the value to the declaration, or returns the error from the
// enclosing function.
//
//   TRY(auto file, open(path));
#define SLIPSTREAM_JOIN_(a, b) a##b
#define SLIPSTREAM_JOIN(a, b) SLIPSTREAM_JOIN_(a, b)
#define SLIPSTREAM_TRY_(tmp, declaration, ...)              \
  auto tmp = (__VA_ARGS__);                                 \
  if (!tmp) return std::unexpected(std::move(tmp.error())); \
  declaration = *std::move(tmp)
#define TRY(declaration, ...) SLIPSTREAM_TRY_(SLIPSTREAM_JOIN(try_result_, __LINE__), declaration, __VA_ARGS__)
// The same for a Result<void>: TRY_VOID(check(header));
#define TRY_VOID(...)                                      \
  if (auto try_result = (__VA_ARGS__); !try_result) {      \
    return std::unexpected(std::move(try_result.error())); \
  }
