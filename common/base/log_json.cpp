#include "common/base/log_json.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace slipstream {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kMessage = "message";

// RFC 3339, in UTC.
std::string words_of(std::chrono::system_clock::time_point time) {
  const auto ms = std::chrono::floor<std::chrono::milliseconds>(time);
  const auto second = std::chrono::floor<std::chrono::seconds>(ms);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(std::chrono::system_clock::to_time_t(second)),
                     (ms - second).count());
}

Json json_of(const std::variant<std::string_view, int64_t>& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) return *number;
  return cut_for_log(std::get<std::string_view>(value));
}

}  // namespace

std::string json_line(const LogRecord& record) {
  Json json{{"time", words_of(record.time)}, {"level", record.level}, {"service", record.service}};
  json[kMessage] = cut_for_log(record.message);
  for (const LogField& field : record.fields) json[std::string(field.name)] = json_of(field.value);
  constexpr bool kAscii = true;  // some readers end a line at U+2028, too
  return json.dump(-1, ' ', kAscii, Json::error_handler_t::replace);
}

std::string message_of_json_line(std::string_view line) {
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object() || !json.contains(kMessage) || !json[kMessage].is_string()) return "";
  return json[kMessage].get<std::string>();
}

std::string cut_for_log(std::string_view text) {
  if (text.size() <= kLogTextBytesMax) return std::string(text);
  return std::string(text.substr(0, kLogTextBytesMax - 3)) + "...";
}

}  // namespace slipstream
