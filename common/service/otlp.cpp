#include "common/service/otlp.h"

#include <nlohmann/json.hpp>

#include "common/base/build_info.h"

namespace slipstream {
namespace {

using Json = nlohmann::json;

constexpr int kInternal = 1, kServer = 2;  // SpanKind
constexpr int kError = 2;                  // StatusCode

Json value_of(const Span::Value& value) {
  if (const auto* count = std::get_if<int64_t>(&value)) return {{"intValue", std::to_string(*count)}};
  if (const auto* number = std::get_if<double>(&value)) return {{"doubleValue", *number}};
  return {{"stringValue", std::get<std::string>(value)}};
}

Json attribute(std::string_view key, const Span::Value& value) { return {{"key", key}, {"value", value_of(value)}}; }

std::string nanoseconds(std::chrono::system_clock::time_point time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count());
}

Json json_of(const TimedSpan& timed) {
  const Span& span = timed.span;
  Json json{{"traceId", hex16(span.trace.high) + hex16(span.trace.low)},
            {"spanId", hex16(span.id)},
            {"name", span.name},
            {"kind", span.serves ? kServer : kInternal},
            {"startTimeUnixNano", nanoseconds(timed.at(span.begin))},
            {"endTimeUnixNano", nanoseconds(timed.at(span.end))},
            {"attributes", Json::array()}};
  if (span.trace.parent != 0) json["parentSpanId"] = hex16(span.trace.parent);
  for (const auto& [key, value] : span.attributes) json["attributes"].push_back(attribute(key, value));
  for (const SpanEvent& event : span.events) {
    json["events"].push_back({{"name", event.name}, {"timeUnixNano", nanoseconds(timed.at(event.at))}});
  }
  if (!span.error.empty()) json["status"] = {{"code", kError}, {"message", span.error}};
  return json;
}

}  // namespace

std::string otlp_json(const TraceResource& resource, std::span<const TimedSpan> spans) {
  Json all = Json::array();
  for (const TimedSpan& span : spans) all.push_back(json_of(span));
  const Json attributes{attribute("service.name", resource.service), attribute("service.instance.id", resource.instance),
                        attribute("service.version", std::string(build_info().version))};
  const Json scope{{"scope", {{"name", "slipstream"}}}, {"spans", std::move(all)}};
  const Json body{{"resourceSpans", {{{"resource", {{"attributes", attributes}}}, {"scopeSpans", {scope}}}}}};
  return body.dump(-1, ' ', false, Json::error_handler_t::replace);  // an error's text may come from a peer
}

}  // namespace slipstream
