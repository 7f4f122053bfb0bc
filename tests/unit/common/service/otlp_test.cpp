#include "common/service/otlp.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace slipstream {
namespace {

using Json = nlohmann::json;
using std::chrono::microseconds;

Json only_span(const TimedSpan& span) {
  const Json body = Json::parse(otlp_json({.service = "slipstream-router", .instance = "host-7"}, std::span(&span, 1)));
  return body.at("resourceSpans").at(0).at("scopeSpans").at(0).at("spans").at(0);
}

TimedSpan request() {
  return {.span = {.trace = {0x4bf92f3577b34da6, 0xa3ce929d0e0e4736, 0xf067aa0ba902b7},
                   .id = 0x2a,
                   .name = "request",
                   .serves = true,
                   .begin = microseconds(1500),
                   .end = microseconds(2500),
                   .attributes = {{"tokens", int64_t{12}}, {"price", 0.25}, {"outcome", std::string("stop")}},
                   .events = {{"first token", microseconds(2000)}}},
          .began = std::chrono::system_clock::time_point(std::chrono::seconds(1'700'000'000))};
}

TEST(Otlp, HasIdsInHexadecimalAndTimesInNanoseconds) {
  const Json span = only_span(request());
  EXPECT_EQ(span.at("traceId"), "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_EQ(span.at("spanId"), "000000000000002a");
  EXPECT_EQ(span.at("parentSpanId"), "00f067aa0ba902b7");
  EXPECT_EQ(span.at("kind"), 2) << "SPAN_KIND_SERVER";
  EXPECT_EQ(span.at("startTimeUnixNano"), "1700000000001500000");
  EXPECT_EQ(span.at("endTimeUnixNano"), "1700000000002500000");
  EXPECT_EQ(span.at("events").at(0), (Json{{"name", "first token"}, {"timeUnixNano", "1700000000002000000"}}));
  EXPECT_FALSE(span.contains("status")) << "it went well";
}

TEST(Otlp, NamesTheTypeOfEachAttribute) {
  const Json attributes = only_span(request()).at("attributes");
  EXPECT_EQ(attributes.at(0), Json::parse(R"({"key": "tokens", "value": {"intValue": "12"}})"));
  EXPECT_EQ(attributes.at(1), Json::parse(R"({"key": "price", "value": {"doubleValue": 0.25}})"));
  EXPECT_EQ(attributes.at(2), Json::parse(R"({"key": "outcome", "value": {"stringValue": "stop"}})"));
}

TEST(Otlp, OfTheFirstSpanOfATraceHasNoParentAndOfAFailedOneTheError) {
  TimedSpan span = request();
  span.span.trace.parent = 0;
  span.span.error = "queue_full \xFF";
  const Json json = only_span(span);
  EXPECT_FALSE(json.contains("parentSpanId"));
  EXPECT_EQ(json.at("status").at("code"), 2) << "STATUS_CODE_ERROR";
}

TEST(Otlp, SaysWhoHasDoneTheWork) {
  const TimedSpan span = request();
  const Json body = Json::parse(otlp_json({.service = "slipstream-router", .instance = "host-7"}, std::span(&span, 1)));
  const Json attributes = body.at("resourceSpans").at(0).at("resource").at("attributes");
  EXPECT_EQ(attributes.at(0), Json::parse(R"({"key": "service.name", "value": {"stringValue": "slipstream-router"}})"));
  EXPECT_EQ(attributes.at(1), Json::parse(R"({"key": "service.instance.id", "value": {"stringValue": "host-7"}})"));
}

}  // namespace
}  // namespace slipstream
