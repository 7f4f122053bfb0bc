#include "common/runtime/span_sink.h"

#include <gtest/gtest.h>

namespace slipstream {
namespace {

TEST(SpanSink, GetsWhatIsRecordedWhileItIsThere) {
  record({});  // there is none: dropped
  std::vector<TimedSpan> recorded;
  set_span_sink([&](TimedSpan span) { recorded.push_back(std::move(span)); });
  record({.span = {.id = 7}});
  set_span_sink({});
  record({.span = {.id = 8}});
  ASSERT_EQ(recorded.size(), 1U);
  EXPECT_EQ(recorded.front().span.id, 7U);
}

TEST(SpanId, TellsSpansApartAndIsTheSameForTheSame) {
  const TraceContext trace{1, 2, 3};
  const SequenceId sequence{.router = 4, .counter = 5};
  EXPECT_EQ(span_id("verify", trace, sequence, 1), span_id("verify", trace, sequence, 1));
  EXPECT_NE(span_id("verify", trace, sequence, 1), span_id("verify", trace, sequence, 2));
  EXPECT_NE(span_id("verify", trace, sequence, 1), span_id("draft", trace, sequence, 1));
  EXPECT_NE(span_id("verify", trace, sequence, 1), span_id("verify", {1, 2, 4}, sequence, 1));
}

}  // namespace
}  // namespace slipstream
