// Reads the fields of a JSON object by name. An error names the field whose type or range is wrong.
// A field that is absent or null reads as nullopt.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <simdjson.h>

#include "common/base/ids.h"
#include "services/router/http_api/api_error.h"

namespace slipstream {

inline constexpr size_t kIgnoredNamedMax = 16;  // unknown fields of a request that are told

ApiError bad_field(std::string param, std::string message);
// A field that is known and not built.
ApiError unsupported(std::string param, std::string message);
ApiError too_many(std::string_view field, std::string_view what, size_t count, size_t limit);
// The token ids of a list; whether the model has them is checked later. field: for the error.
ApiResult<std::vector<TokenId>> read_token_ids(simdjson::dom::array list, std::string_view field);
// The value of a key; of one that comes several times the last, as in most languages' own readers.
std::optional<simdjson::dom::element> member(simdjson::dom::object object, std::string_view key);
std::optional<std::string_view> member_text(simdjson::dom::object object, std::string_view key);  // nullopt: or it is no text
// A value as errors name it: "a list", "null", a number as it was sent.
std::string kind_of(simdjson::dom::element element);

class RequestFields {
 public:
  // path: the prefix of field names in errors, such as "stream_options."; "" for the body itself.
  explicit RequestFields(simdjson::dom::object object, std::string path = "") : object_(object), path_(std::move(path)) {}

  std::optional<simdjson::dom::element> find(std::string_view name) const;
  ApiResult<std::optional<bool>> boolean(std::string_view name) const;
  // A number without a fraction, also if it is written as 4.0 or 1e2, as some languages do.
  ApiResult<std::optional<int64_t>> integer(std::string_view name, int64_t least, int64_t most) const;
  ApiResult<std::optional<double>> number(std::string_view name, double least, double most) const;
  ApiResult<std::optional<std::string_view>> text(std::string_view name) const;
  ApiResult<std::optional<RequestFields>> object(std::string_view name) const;

  // The first `most` fields of the object that no call above asked for.
  std::vector<std::string_view> unread(size_t most) const;
  // Adds them, with their path, to the fields that a request has and nobody uses, up to
  // kIgnoredNamedMax of all.
  void note_unread(std::vector<std::string>& ignored) const;

  bool has_read(std::string_view name) const { return asked_for_.contains(name); }

  std::string name(std::string_view field) const { return path_ + std::string(field); }
  const simdjson::dom::object& object() const { return object_; }

 private:
  ApiError wrong(std::string_view field, std::string_view wanted, simdjson::dom::element got) const;

  simdjson::dom::object object_;
  std::string path_;
  mutable std::set<std::string, std::less<>> asked_for_;
};

}  // namespace slipstream
