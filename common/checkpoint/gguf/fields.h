// The metadata of a GGUF file: typed values with names. read() checks that each value lies inside
// the file; the other calls check its type and range.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/checkpoint/gguf/cursor.h"

namespace slipstream {

// Limits far above what files have (with a 256k vocabulary: 256k tokens, about as many merges, and
// about 40 fields), and far below what takes too much time or memory.
inline constexpr uint64_t kGgufFieldsMax = 1 << 16;
inline constexpr uint64_t kGgufKeyBytesMax = 65535;       // the format's own limit
inline constexpr uint64_t kGgufTextBytesMax = 4 << 20;    // of one text; a chat template has about 10 KB
inline constexpr uint64_t kGgufArrayCountMax = 16 << 20;  // of one list

// The format's numbers of types.
enum class GgufKind : uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, text, list, u64, i64, f64 };

class GgufFields {
 public:
  // Reads `count` fields, which point into the cursor's bytes. Errors name the field; the caller
  // adds the file.
  static Result<GgufFields> read(GgufCursor& cursor, uint64_t count);
  void set_what(std::string what) { what_ = std::move(what); }  // what later errors begin with: the file
  const std::string& what() const { return what_; }

  bool has(std::string_view key) const { return fields_.contains(key); }
  // An absent field is an error, except for boolean_or. `least` and `most` are the allowed range,
  // both included.
  Result<int64_t> integer(std::string_view key, int64_t least, int64_t most) const;  // of any integer type
  Result<double> number(std::string_view key, double least, double most) const;      // f32, f64 or integer
  Result<bool> boolean_or(std::string_view key, bool absent) const;                  // absent: value of an absent field
  Result<std::string_view> text(std::string_view key) const;
  Result<std::vector<std::string_view>> texts(std::string_view key) const;
  Result<std::vector<int64_t>> integers(std::string_view key) const;
  Result<std::vector<float>> floats(std::string_view key) const;  // finite

 private:
  struct Field {
    GgufKind kind = GgufKind::u8;  // for a list: the kind of its members
    bool list = false;
    uint64_t count = 1;
    std::span<const std::byte> bytes;  // the value; texts with their lengths before them
  };
  static Result<Field> read_field(GgufCursor& cursor);
  Result<const Field*> find(std::string_view key, bool list) const;

  std::string what_ = "a GGUF file";
  std::map<std::string_view, Field> fields_;
};

}  // namespace slipstream
