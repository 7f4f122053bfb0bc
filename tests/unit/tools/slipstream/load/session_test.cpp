// Sessions over real sockets, against a server of this process that answers as a test wants.
#include "tools/slipstream/load/session.h"

#include <array>
#include <atomic>
#include <deque>
#include <mutex>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "common/http/server.h"
#include "tools/slipstream/load/tally.h"

namespace slipstream::command::load {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

constexpr const char* kText = "data: {\"choices\": [{\"delta\": {\"content\": \"a\"}}]}\n\n";
constexpr const char* kFinish =
    "data: {\"choices\": [{\"delta\": {}, \"finish_reason\": \"stop\"}]}\n\n"
    "data: {\"choices\": [], \"usage\": {\"prompt_tokens\": 3, \"completion_tokens\": 2}}\n\ndata: [DONE]\n\n";

class LoadedServer : public testing::Test {
 protected:
  using Answer = std::function<void(http::Exchange)>;

  ~LoadedServer() override { server_.reset(); }  // before what its handler refers to

  void answer_with(Answer answer) {
    auto made = http::Server::listen(
        "127.0.0.1", 0,
        [answer = std::move(answer)](const http::Request&, http::Exchange exchange) { answer(std::move(exchange)); },
        [](int status, std::string_view text, std::string_view) {
          return http::Response{.status = status, .body = std::string(text)};
        });
    ASSERT_TRUE(made) << made.error().message;
    server_.emplace(*std::move(made));
    target_.url = {.host = "127.0.0.1", .port = server_->port()};
  }
  static void answer_whole(http::Exchange exchange) {
    exchange.begin_stream("text/event-stream");
    exchange.write(kText);
    exchange.write(kText);
    exchange.write(kFinish);
    exchange.end();
  }

  // Runs to its end. While it runs, `tick` may act on what it sees.
  Duration run(SessionPlan plan, const std::stop_token& stop = {}, const Session::Tick& tick = [](const Progress&) {}) {
    Session session(target_, mix_, std::move(plan), [this](const Sample& sample) {
      samples_.push_back(sample);
      tally_.add(sample);
    });
    const auto took = session.run(stop, tick);
    EXPECT_TRUE(took) << took.error().message;
    return took.value_or(Duration(0));
  }

  Target target_{.url = {}, .model = {"m", "somebody"}, .ca_file = "", .api_key = "", .timeout = milliseconds(20'000)};
  RequestMix mix_{{{.text = "hi"}}, {.model = "m", .max_tokens = 4}, PromptOrder::as_given};
  std::optional<http::Server> server_;
  Tally tally_;
  std::vector<Sample> samples_;
};

SessionPlan closed(int streams, size_t requests) { return {.arrivals = {}, .streams = streams, .requests_max = requests}; }
SessionPlan at(std::vector<Offset> times, int at_once) {
  return {.arrivals = Schedule::replay(std::move(times)), .streams = at_once};
}

TEST_F(LoadedServer, GetsAllRequestsOfAClosedLoop) {
  answer_with(answer_whole);
  const Duration took = run(closed(4, 40));
  EXPECT_EQ(tally_.complete(), 40u);
  EXPECT_EQ(tally_.tokens_out(), 80u);
  EXPECT_EQ(tally_.tokens_in(), 120u);
  EXPECT_EQ(tally_.measures().itl_by_chunk.count(), 40u);
  EXPECT_GT(took.count(), 0);
}

TEST_F(LoadedServer, GetsEveryRequestOfAScheduleThoughItAnswersNone) {
  std::mutex mutex;
  std::deque<http::Exchange> held;
  answer_with([&](http::Exchange exchange) {
    std::lock_guard lock(mutex);
    held.push_back(std::move(exchange));
    if (held.size() < 30) return;  // a closed loop would wait here forever
    for (http::Exchange& each : held) answer_whole(std::move(each));
    held.clear();
  });
  run(at(std::vector<Offset>(30, Offset(0)), 64));
  EXPECT_EQ(tally_.complete(), 30u);
}

// Coordinated omission: with one request at once, the second waits for the first answer. Its user
// has waited, too.
TEST_F(LoadedServer, IsChargedForRequestsThatCouldNotBeSentInTime) {
  int ticks = 0;
  std::mutex mutex;
  std::deque<http::Exchange> held;
  bool open = false;
  answer_with([&](http::Exchange exchange) {
    std::lock_guard lock(mutex);
    if (open) return answer_whole(std::move(exchange));
    held.push_back(std::move(exchange));
  });
  run(at({Offset(0), milliseconds(1), milliseconds(2)}, 1), {}, [&](const Progress&) {
    if (++ticks < 2) return;
    std::lock_guard lock(mutex);
    open = true;
    for (http::Exchange& each : held) answer_whole(std::move(each));
    held.clear();
  });
  ASSERT_EQ(tally_.complete(), 3u);
  EXPECT_GE(tally_.late(), 2u) << "and the first one, too, where this machine is busy";
  for (const Sample& sample : samples_) {
    EXPECT_GE(sample.ended - sample.scheduled, kTick) << "the stall counts for each of the three";
  }
}

TEST_F(LoadedServer, IsToldApartByHowItRefuses) {
  std::atomic<int> asked = 0;
  answer_with([&](http::Exchange exchange) {
    constexpr std::array kStatus{429, 503, 400, 500};
    const int status = kStatus[static_cast<size_t>(asked++) % kStatus.size()];
    http::Response response{.status = status, .body = R"({"error": {"message": "not now"}})"};
    if (status == 429) response.headers.emplace_back("Retry-After", "1");
    exchange.send(std::move(response));
  });
  run(closed(1, 4));
  EXPECT_EQ(tally_.ended(Ending::refused_429), 1u);
  EXPECT_EQ(tally_.ended(Ending::refused_503), 1u);
  EXPECT_EQ(tally_.ended(Ending::other_status), 2u);
  EXPECT_EQ(tally_.refusals_without_retry_after(), 1u);
  EXPECT_EQ(tally_.problems().at("not now"), 4u);
}

TEST_F(LoadedServer, IsAskedAgainByAStreamOnlyWhenItSaidSo) {
  std::atomic<int> asked = 0;
  answer_with([&](http::Exchange exchange) {
    if (asked++ > 0) return answer_whole(std::move(exchange));
    http::Response response{.status = 429, .body = R"({"error": {"message": "not now"}})"};
    response.headers.emplace_back("Retry-After", "1");
    exchange.send(std::move(response));
  });
  run(closed(1, 2));
  ASSERT_EQ(samples_.size(), 2u);
  EXPECT_EQ(samples_[1].scheduled, samples_[0].ended + std::chrono::seconds(1));
  EXPECT_EQ(samples_[1].ending, Ending::complete);
}

TEST_F(LoadedServer, IsAskedNoMoreInARunThatEndsBeforeItsRetryAfter) {
  for (const char* retry_after : {"3600", "99999999999999999999"}) {
    answer_with([retry_after](http::Exchange exchange) {
      http::Response response{.status = 503, .body = R"({"error": {"message": "not now"}})"};
      response.headers.emplace_back("Retry-After", retry_after);
      exchange.send(std::move(response));
    });
    samples_.clear();
    run({.arrivals = {}, .streams = 1, .requests_max = 0, .time_max = std::chrono::minutes(5)});
    EXPECT_EQ(samples_.size(), 1u) << retry_after;
  }
}

TEST_F(LoadedServer, ThatNamesADateInItsRetryAfterIsAskedAgainSoon) {
  answer_with([](http::Exchange exchange) {
    http::Response response{.status = 429, .body = R"({"error": {"message": "not now"}})"};
    response.headers.emplace_back("Retry-After", "Wed, 21 Oct 2099 07:28:00 GMT");
    exchange.send(std::move(response));
  });
  run(closed(1, 2));
  EXPECT_EQ(samples_[1].scheduled, samples_[0].ended + kPauseAfterFailure);
  EXPECT_EQ(tally_.refusals_without_retry_after(), 0u);
}

TEST_F(LoadedServer, ThatBreaksOffAnAnswerIsNamed) {
  std::mutex mutex;
  std::optional<http::Exchange> begun;
  answer_with([&](http::Exchange exchange) {
    exchange.begin_stream("text/event-stream");
    exchange.write(kText);
    std::lock_guard lock(mutex);
    begun = std::move(exchange);
  });
  run(closed(1, 1), {}, [&](const Progress& progress) {
    if (progress.tokens == 0) return;  // else the end could overtake the text
    std::lock_guard lock(mutex);
    if (begun) begun->abort();
    begun.reset();
  });
  EXPECT_EQ(tally_.ended(Ending::broke_off), 1u);
  EXPECT_THAT(samples_.front().problem, HasSubstr("127.0.0.1"));
}

TEST_F(LoadedServer, ThatIsGoneIsNamed) {
  answer_with(answer_whole);
  server_.reset();
  run(closed(1, 1));
  EXPECT_EQ(tally_.ended(Ending::no_connection), 1u);
  EXPECT_THAT(samples_.front().problem, HasSubstr("is the server running?"));
}

TEST_F(LoadedServer, ThatIsNoApiIsNamed) {
  answer_with([](http::Exchange exchange) { exchange.send({.body = "<html>welcome</html>"}); });
  run(closed(1, 1));
  EXPECT_EQ(tally_.ended(Ending::no_answer), 1u);
  EXPECT_THAT(samples_.front().problem, HasSubstr("is the URL that of an OpenAI-style API?"));
}

TEST_F(LoadedServer, ThatNeverStopsWritingIsCut) {
  answer_with([](http::Exchange exchange) {
    exchange.begin_stream("text/event-stream");
    for (int i = 0; i < 200; ++i) exchange.write(kText);  // max_tokens is 4
    exchange.end();
  });
  run(closed(1, 1));
  EXPECT_EQ(tally_.ended(Ending::endless), 1u);
  EXPECT_EQ(samples_.front().chunks.size(), 4 + kSpareChunks);
}

TEST_F(LoadedServer, ThatNeverAnswersTimesOut) {
  std::vector<http::Exchange> held;
  answer_with([&](http::Exchange exchange) { held.push_back(std::move(exchange)); });
  target_.timeout = milliseconds(50);
  run(closed(1, 1));
  EXPECT_EQ(tally_.ended(Ending::timed_out), 1u);
  EXPECT_THAT(samples_.front().problem, HasSubstr("within 50 ms; allow more with --timeout-s"));
}

TEST_F(LoadedServer, ThatKeepsAStreamOpenWithoutATokenTimesOutAndIsAskedAgain) {
  std::mutex mutex;
  std::vector<http::Exchange> held;
  answer_with([&](http::Exchange exchange) {
    std::lock_guard lock(mutex);
    if (!held.empty()) return answer_whole(std::move(exchange));
    exchange.begin_stream("text/event-stream");
    held.push_back(std::move(exchange));
  });
  target_.timeout = 2 * kTick;
  run(closed(1, 2), {}, [&](const Progress&) {
    std::lock_guard lock(mutex);
    for (http::Exchange& each : held) each.write(": still there\n\n");
  });
  EXPECT_EQ(tally_.ended(Ending::timed_out), 1u);
  EXPECT_EQ(tally_.complete(), 1u);
}

TEST_F(LoadedServer, IsLeftAtOnceWhenTheRunIsStopped) {
  std::atomic<int> asked = 0;
  std::vector<http::Exchange> held;
  answer_with([&](http::Exchange exchange) {
    if (asked++ < 2) return answer_whole(std::move(exchange));
    held.push_back(std::move(exchange));
  });
  std::stop_source stop;
  run(closed(3, 0), stop.get_token(), [&](const Progress& progress) {
    if (progress.complete == 2 && asked == 5) stop.request_stop();
  });
  EXPECT_EQ(tally_.complete(), 2u) << "what was measured is still reported";
  EXPECT_EQ(tally_.ended(Ending::cut), 3u);
}

TEST_F(LoadedServer, IsAskedUntilTheTimeIsOver) {
  constexpr milliseconds kTime(500);  // for three answers, however busy the machine is
  answer_with(answer_whole);
  run({.arrivals = {}, .streams = 2, .requests_max = 0, .time_max = kTime});
  EXPECT_GT(tally_.complete(), 2u);
  for (const Sample& sample : samples_) EXPECT_LT(sample.scheduled, kTime);
}

}  // namespace
}  // namespace slipstream::command::load
