#include "tools/slipstream/load/request_log.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace slipstream::command::load {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using testing::HasSubstr;

constexpr std::chrono::system_clock::time_point kNow{std::chrono::milliseconds(1'700'000'000'500)};

Sample answer() {
  return {.ending = Ending::complete,
          .status = 200,
          .problem = "",
          .scheduled = milliseconds(1000),
          .sent = milliseconds(1001),
          .ended = milliseconds(3000),
          .chunks = {{milliseconds(1200), 1}, {milliseconds(2700), 3}, {milliseconds(2900), 1}},
          .tokens_in = 7,
          .tokens_out = 5,
          .tokens_cached = {}};
}

TEST(RequestLine, TellsWhenARequestWasAskedAndWhatItGot) {
  const json line = json::parse(request_line("8 streams", answer(), kNow));
  EXPECT_EQ(line, (json{{"run", "8 streams"},
                        {"ended_at", 1'700'000'000.5},
                        {"ending", "complete"},
                        {"status", 200},
                        {"scheduled_s", 1.0},
                        {"sent_s", 1.001},
                        {"ended_s", 3.0},
                        {"ttft_ms", 200.0},
                        {"pause_ms", 1500.0},
                        {"tokens_in", 7},
                        {"tokens_out", 5},
                        {"problem", ""}}));
}

TEST(RequestLine, CountsTheWaitBeforeTheFirstTextAndAfterTheLastAsPauses) {
  Sample sample = answer();
  sample.chunks = {{milliseconds(2900), 1}};
  EXPECT_EQ(json::parse(request_line("", sample, kNow))["pause_ms"], 1900.0);
  sample.ended = milliseconds(9000);
  EXPECT_EQ(json::parse(request_line("", sample, kNow))["pause_ms"], 6100.0);
}

TEST(RequestLine, SaysWhyThereIsNoAnswer) {
  const Sample sample{.ending = Ending::no_connection,
                      .problem = "nobody listens",
                      .scheduled = milliseconds(10),
                      .sent = milliseconds(10),
                      .ended = milliseconds(30),
                      .tokens_in = {},
                      .tokens_out = {},
                      .tokens_cached = {}};
  const json line = json::parse(request_line("", sample, kNow));
  EXPECT_EQ(line["ending"], "no_connection");
  EXPECT_EQ(line["problem"], "nobody listens");
  EXPECT_EQ(line["pause_ms"], 20.0);
  EXPECT_TRUE(line["ttft_ms"].is_null());
  EXPECT_TRUE(line["tokens_in"].is_null());
}

TEST(RequestLog, HasALineForEachRequestAsSoonAsItEnded) {
  const auto file = std::filesystem::path(testing::TempDir()) / "requests.jsonl";
  auto log = RequestLog::open(file);
  ASSERT_TRUE(log) << log.error().message;
  for (const int lines : {1, 2}) {
    log->add("a run", answer());
    std::ifstream stream(file);
    std::string text{std::istreambuf_iterator<char>(stream), {}};
    EXPECT_EQ(std::ranges::count(text, '\n'), lines);
  }
  EXPECT_TRUE(log->close());
}

TEST(RequestLog, ThatHasNoFileWritesNothing) {
  auto log = RequestLog::open({});
  ASSERT_TRUE(log);
  log->add("a run", answer());
  EXPECT_TRUE(log->close());
}

TEST(RequestLog, NamesAFileThatCannotBeWritten) {
  EXPECT_THAT(RequestLog::open("/proc/no/such/file").error().message, HasSubstr("/proc/no/such/file"));
  auto full = RequestLog::open("/dev/full");
  ASSERT_TRUE(full);
  full->add("a run", answer());
  EXPECT_THAT(full->close().error().message, HasSubstr("not every request is in /dev/full"));
}

}  // namespace
}  // namespace slipstream::command::load
