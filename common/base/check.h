// CHECK aborts the process, with a message, when an invariant of our own code is broken.
//
//   CHECK(rows <= rows_max, "a step holds {} rows, got {}", rows_max, rows);
//
// It checks what the program itself guarantees. Input that may be wrong gives a Result (result.h).
#pragma once

#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

#define CHECK(condition, ...)                                                                                                  \
  do {                                                                                                                         \
    if (!(condition)) [[unlikely]] {                                                                                           \
      std::fputs(                                                                                                              \
          fmt::format("{}:{}: broken invariant ({}): {}\n", __FILE__, __LINE__, #condition, fmt::format(__VA_ARGS__)).c_str(), \
          stderr);                                                                                                             \
      std::abort();                                                                                                            \
    }                                                                                                                          \
  } while (false)
