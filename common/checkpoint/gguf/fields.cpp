#include "common/checkpoint/gguf/fields.h"

#include <cmath>
#include <optional>

namespace slipstream {
namespace {

// The size of one value; 0: not fixed.
size_t bytes_of(GgufKind kind) {
  switch (kind) {
    case GgufKind::u8:
    case GgufKind::i8:
    case GgufKind::boolean:
      return 1;
    case GgufKind::u16:
    case GgufKind::i16:
      return 2;
    case GgufKind::u32:
    case GgufKind::i32:
    case GgufKind::f32:
      return 4;
    case GgufKind::u64:
    case GgufKind::i64:
    case GgufKind::f64:
      return 8;
    case GgufKind::text:
    case GgufKind::list:
      return 0;
  }
  return 0;
}

Result<GgufKind> read_kind(GgufCursor& cursor) {
  TRY(const auto number, cursor.number<uint32_t>());
  if (number > static_cast<uint32_t>(GgufKind::f64)) return fail("its type {} is unknown", number);
  return static_cast<GgufKind>(number);
}

template <class T>
T load(std::span<const std::byte> bytes, uint64_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof value);
  return value;
}

// nullopt: not an integer, or beyond int64.
std::optional<int64_t> as_integer(GgufKind kind, std::span<const std::byte> bytes, uint64_t index) {
  switch (kind) {
    case GgufKind::u8:
      return load<uint8_t>(bytes, index);
    case GgufKind::i8:
      return load<int8_t>(bytes, index);
    case GgufKind::u16:
      return load<uint16_t>(bytes, index);
    case GgufKind::i16:
      return load<int16_t>(bytes, index);
    case GgufKind::u32:
      return load<uint32_t>(bytes, index);
    case GgufKind::i32:
      return load<int32_t>(bytes, index);
    case GgufKind::i64:
      return load<int64_t>(bytes, index);
    case GgufKind::u64:
      if (const auto value = load<uint64_t>(bytes, index); value <= INT64_MAX) return static_cast<int64_t>(value);
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

std::optional<double> as_number(GgufKind kind, std::span<const std::byte> bytes) {
  if (kind == GgufKind::f32) return load<float>(bytes, 0);
  if (kind == GgufKind::f64) return load<double>(bytes, 0);
  if (const auto whole = as_integer(kind, bytes, 0)) return static_cast<double>(*whole);
  return std::nullopt;
}

// The bytes of `count` texts with their lengths. A second cursor walks over them to find their end;
// every length is checked on the way, so that text() and texts() can rely on it.
Result<std::span<const std::byte>> read_texts(GgufCursor& cursor, uint64_t count) {
  GgufCursor ahead = cursor;
  for (uint64_t i = 0; i < count; ++i) {
    TRY_VOID(ahead.text(kGgufTextBytesMax));
  }
  return cursor.take(ahead.at() - cursor.at());
}

}  // namespace

Result<GgufFields::Field> GgufFields::read_field(GgufCursor& cursor) {
  Field field;
  TRY(field.kind, read_kind(cursor));
  field.list = field.kind == GgufKind::list;
  if (field.list) {
    TRY(field.kind, read_kind(cursor));
    TRY(field.count, cursor.number<uint64_t>());
    if (field.kind == GgufKind::list) return fail("it is a list of lists, which no model needs");
    // Also keeps count * size below from overflowing.
    if (field.count > kGgufArrayCountMax) return fail("it claims {} members, the limit is {}", field.count, kGgufArrayCountMax);
  }
  if (field.kind == GgufKind::text) {
    TRY(field.bytes, read_texts(cursor, field.count));
  } else {
    TRY(field.bytes, cursor.take(field.count * bytes_of(field.kind)));
  }
  return field;
}

Result<GgufFields> GgufFields::read(GgufCursor& cursor, uint64_t count) {
  if (count > kGgufFieldsMax) return fail("it claims {} fields, the limit is {}", count, kGgufFieldsMax);
  GgufFields fields;
  for (uint64_t i = 0; i < count; ++i) {
    TRY(const std::string_view key, cursor.text(kGgufKeyBytesMax));
    auto field = read_field(cursor);
    if (!field) return fail("field {:.100}: {}", key, field.error().message);
    if (!fields.fields_.emplace(key, *field).second) return fail("field {:.100} is there twice", key);
  }
  return fields;
}

Result<const GgufFields::Field*> GgufFields::find(std::string_view key, bool list) const {
  const auto at = fields_.find(key);
  if (at == fields_.end()) return fail("{} has no field {}: convert the model again with a current converter", what_, key);
  if (at->second.list != list) return fail("{}: {} must be {}", what_, key, list ? "a list" : "one value, not a list");
  return &at->second;
}

Result<int64_t> GgufFields::integer(std::string_view key, int64_t least, int64_t most) const {
  TRY(const Field* field, find(key, false));
  const auto value = as_integer(field->kind, field->bytes, 0);
  if (!value) return fail("{}: {} must be an integer", what_, key);
  if (*value < least || *value > most) return fail("{}: {} is {}, supported are {} to {}", what_, key, *value, least, most);
  return *value;
}

Result<double> GgufFields::number(std::string_view key, double least, double most) const {
  TRY(const Field* field, find(key, false));
  const auto value = as_number(field->kind, field->bytes);
  if (!value) return fail("{}: {} must be a number", what_, key);
  if (!(*value >= least && *value <= most))  // written so that NaN is refused too
    return fail("{}: {} is {}, supported are {} to {}", what_, key, *value, least, most);
  return *value;
}

Result<bool> GgufFields::boolean_or(std::string_view key, bool absent) const {
  if (!has(key)) return absent;
  TRY(const Field* field, find(key, false));
  const auto value = load<uint8_t>(field->bytes, 0);
  if (field->kind != GgufKind::boolean || value > 1) return fail("{}: {} must be true or false", what_, key);
  return value == 1;
}

Result<std::string_view> GgufFields::text(std::string_view key) const {
  TRY(const Field* field, find(key, false));
  if (field->kind != GgufKind::text) return fail("{}: {} must be a text", what_, key);
  return GgufCursor(field->bytes).text(kGgufTextBytesMax);
}

Result<std::vector<std::string_view>> GgufFields::texts(std::string_view key) const {
  TRY(const Field* field, find(key, true));
  if (field->kind != GgufKind::text) return fail("{}: {} must be a list of texts", what_, key);
  GgufCursor cursor(field->bytes);
  std::vector<std::string_view> texts;
  for (uint64_t i = 0; i < field->count; ++i) {
    TRY(const std::string_view text, cursor.text(kGgufTextBytesMax));
    texts.push_back(text);
  }
  return texts;
}

Result<std::vector<int64_t>> GgufFields::integers(std::string_view key) const {
  TRY(const Field* field, find(key, true));
  std::vector<int64_t> values;
  for (uint64_t i = 0; i < field->count; ++i) {
    const auto value = as_integer(field->kind, field->bytes, i);
    if (!value) return fail("{}: {} must be a list of integers", what_, key);
    values.push_back(*value);
  }
  return values;
}

Result<std::vector<float>> GgufFields::floats(std::string_view key) const {
  TRY(const Field* field, find(key, true));
  if (field->kind != GgufKind::f32) return fail("{}: {} must be a list of 32-bit floats", what_, key);
  std::vector<float> values;
  for (uint64_t i = 0; i < field->count; ++i) {
    values.push_back(load<float>(field->bytes, i));
    if (!std::isfinite(values.back())) return fail("{}: {} holds a number that is not finite", what_, key);
  }
  return values;
}

}  // namespace slipstream
