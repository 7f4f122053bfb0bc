#include "services/router/http_api/request_fields.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace slipstream {
namespace {

constexpr double kTwoTo63 = 9223372036854775808.0;

}  // namespace

std::optional<simdjson::dom::element> member(simdjson::dom::object object, std::string_view key) {
  std::optional<simdjson::dom::element> last;
  for (const auto& field : object) {
    if (field.key == key) last = field.value;
  }
  return last;
}

std::optional<std::string_view> member_text(simdjson::dom::object object, std::string_view key) {
  const auto found = member(object, key);
  std::string_view text;
  return found && found->get(text) == simdjson::SUCCESS ? std::optional(text) : std::nullopt;
}

std::string kind_of(simdjson::dom::element element) {
  using simdjson::dom::element_type;
  switch (element.type()) {
    case element_type::ARRAY:
      return "a list";
    case element_type::OBJECT:
      return "an object";
    case element_type::STRING:
      return "a string";
    case element_type::BOOL:
      return "a boolean";
    case element_type::NULL_VALUE:
      return "null";
    default:
      return simdjson::minify(element);
  }
}

ApiError bad_field(std::string param, std::string message) {
  return {.status = 400, .message = std::move(message), .param = std::move(param), .code = "invalid_value"};
}

ApiError unsupported(std::string param, std::string message) {
  return {.status = 400, .message = std::move(message), .param = std::move(param), .code = "unsupported_parameter"};
}

ApiError too_many(std::string_view field, std::string_view what, size_t count, size_t limit) {
  return bad_field(std::string(field), fmt::format("`{}` has {} {}; the limit is {}.", field, count, what, limit));
}

ApiResult<std::vector<TokenId>> read_token_ids(simdjson::dom::array list, std::string_view field) {
  std::vector<TokenId> ids;
  for (const simdjson::dom::element one : list) {
    int64_t id = -1;
    if (one.get(id) != simdjson::SUCCESS || id < 0 || id > std::numeric_limits<TokenId>::max()) {
      return std::unexpected(
          bad_field(std::string(field), fmt::format("`{}` must hold token ids only: integers from 0.", field)));
    }
    ids.push_back(static_cast<TokenId>(id));
  }
  return ids;
}

ApiError RequestFields::wrong(std::string_view field, std::string_view wanted, simdjson::dom::element got) const {
  return {.status = 400,
          .message = fmt::format("`{}` must be {}; it is {}.", name(field), wanted, kind_of(got)),
          .param = name(field),
          .code = "invalid_type"};
}

std::optional<simdjson::dom::element> RequestFields::find(std::string_view name) const {
  asked_for_.emplace(name);
  const auto found = member(object_, name);
  return found && !found->is_null() ? found : std::nullopt;
}

ApiResult<std::optional<bool>> RequestFields::boolean(std::string_view name) const {
  const auto element = find(name);
  if (!element) return std::nullopt;
  bool value = false;
  if (element->get(value) != simdjson::SUCCESS) return std::unexpected(wrong(name, "true or false", *element));
  return value;
}

ApiResult<std::optional<int64_t>> RequestFields::integer(std::string_view name, int64_t least, int64_t most) const {
  const auto element = find(name);
  if (!element) return std::nullopt;
  const auto range = fmt::format("an integer between {} and {}", least, most);
  const auto beyond = [&] {
    return std::unexpected(bad_field(this->name(name), fmt::format("`{}` must be {}.", this->name(name), range)));
  };
  int64_t value = 0;
  if (element->is_uint64() && !element->is_int64()) return beyond();  // above 2^63 - 1
  if (element->type() == simdjson::dom::element_type::DOUBLE) {
    const double real = element->get_double().value_unsafe();
    if (real != std::trunc(real)) return std::unexpected(wrong(name, range, *element));
    if (std::abs(real) >= kTwoTo63) return beyond();
    value = static_cast<int64_t>(real);
  } else if (!element->is_int64() || element->get(value) != simdjson::SUCCESS) {
    return std::unexpected(wrong(name, range, *element));
  }
  if (value < least || value > most) {
    return std::unexpected(
        bad_field(this->name(name), fmt::format("`{}` must be {}; it is {}.", this->name(name), range, value)));
  }
  return value;
}

ApiResult<std::optional<double>> RequestFields::number(std::string_view name, double least, double most) const {
  const auto element = find(name);
  if (!element) return std::nullopt;
  const auto range = fmt::format("a number between {:.6g} and {:.6g}", least, most);
  double value = 0;
  if (!element->is_number() || element->get(value) != simdjson::SUCCESS) return std::unexpected(wrong(name, range, *element));
  if (!(value >= least && value <= most)) {
    return std::unexpected(
        bad_field(this->name(name), fmt::format("`{}` must be {}; it is {}.", this->name(name), range, value)));
  }
  return value;
}

ApiResult<std::optional<std::string_view>> RequestFields::text(std::string_view name) const {
  const auto element = find(name);
  if (!element) return std::nullopt;
  std::string_view value;
  if (element->get(value) != simdjson::SUCCESS) return std::unexpected(wrong(name, "a string", *element));
  return value;
}

ApiResult<std::optional<RequestFields>> RequestFields::object(std::string_view name) const {
  const auto element = find(name);
  if (!element) return std::nullopt;
  simdjson::dom::object value;
  if (element->get(value) != simdjson::SUCCESS) return std::unexpected(wrong(name, "an object", *element));
  return RequestFields(value, this->name(name) + ".");
}

std::vector<std::string_view> RequestFields::unread(size_t most) const {
  std::vector<std::string_view> names;
  for (const auto& field : object_) {
    if (names.size() == most) break;
    if (!asked_for_.contains(field.key)) names.push_back(field.key);
  }
  return names;
}

void RequestFields::note_unread(std::vector<std::string>& ignored) const {
  for (const std::string_view key : unread(kIgnoredNamedMax - std::min(ignored.size(), kIgnoredNamedMax))) {
    ignored.push_back(name(key));
  }
}

}  // namespace slipstream
