// CHECK(rows <= rows_max, "a step holds {} rows, got {}", rows_max, rows): a broken invariant of
// our own aborts with a message. Never for input: that is a Result (result.h).
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
