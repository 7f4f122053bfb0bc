#include "common/http/event_stream.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipstream::http {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> events_of(std::string_view text, size_t piece) {
  std::vector<std::string> events;
  EventStream stream;
  for (size_t at = 0; at < text.size(); at += piece) {
    stream.feed(text.substr(at, piece), [&](std::string_view data) {
      events.emplace_back(data);
      return true;
    });
  }
  return events;
}

TEST(EventStream, ReadsTheSameHoweverTheTextIsCut) {
  const std::string_view text =
      ": comment\ndata: one\n\nevent: x\nid: 7\ndata:two\r\ndata:  three\r\n\r\n\r\ndata\n\ndata: a: b\rdata: c\r\rdata: not "
      "ended";
  for (size_t piece = 1; piece <= text.size(); ++piece) {
    EXPECT_THAT(events_of(text, piece), ElementsAre("one", "two\n three", "", "a: b\nc")) << piece;
  }
}

TEST(EventStream, GivesNothingForCommentsAndBlankLines) { EXPECT_THAT(events_of(":\n\n: keep-alive\n\n\n\n", 3), IsEmpty()); }

TEST(EventStream, StopsWhenToldTo) {
  EventStream stream;
  int events = 0;
  EXPECT_FALSE(stream.feed("data: 1\n\ndata: 2\n\n", [&](std::string_view) { return ++events < 1; }));
  EXPECT_EQ(events, 1);
}

TEST(EventStream, TellsHowMuchItHolds) {
  EventStream stream;
  stream.feed("data: 123\nda", [](std::string_view) { return true; });
  EXPECT_EQ(stream.bytes_held(), 5u);
}

}  // namespace
}  // namespace slipstream::http
