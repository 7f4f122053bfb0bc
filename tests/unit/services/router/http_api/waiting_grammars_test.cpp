// Grammars that wait to be compiled, and who waits for them.
#include "tests/data/grammars.h"
#include "tests/unit/common/http/wire_client.h"
#include "tests/unit/services/router/http_api/front.h"

namespace slipstream {
namespace {

class WaitingGrammar : public HttpApiTest {
 protected:
  WaitingGrammar() : HttpApiTest(with_grammars()) {}

  static ServedModel with_grammars() {
    ServedModel served = model();
    served.vocabulary = small_vocabulary();
    served.grammars = small_grammars();
    served.grammar_wait_most = 10s;
    return served;
  }
  static std::string follows(std::string_view regex) { return ask(fmt::format(R"("guided_regex":"{}")", regex)); }

  // A request whose grammar waits when this returns.
  std::future<http::Reply> waits(std::string_view regex, std::string address = "192.0.2.1") {
    client = std::move(address);
    auto reply = post(follows(regex));
    awaits_chat();
    text_has_run();
    return reply;
  }
  void text_has_run() {
    std::promise<void> ran;
    while (!text.post([&] { ran.set_value(); })) std::this_thread::yield();
    ran.get_future().wait();
  }
  void grammars_have_run() {
    std::promise<void> ran;
    while (!grammars.post([&] { ran.set_value(); }, 9)) std::this_thread::yield();
    ran.get_future().wait();
  }
  std::string answered(std::future<http::Reply>& reply) {
    const auto submit = inbox.take<Submit>();
    deliver(submit.request, "a<|im_end|>", Finish::stop);
    EXPECT_EQ(reply.get().status, 200);
    return submit.spec.grammar.text;
  }
};

// Compiling may take a second.
TEST_F(WaitingGrammar, LetsNoOtherRequestWait) {
  std::future<http::Reply> slow;
  {
    Held held(grammars);
    slow = post(follows("a"));
    awaits_chat();
    auto plain = post(ask());
    EXPECT_EQ(answered(plain), "") << "it came later, and goes first";
  }
  EXPECT_EQ(answered(slow), "a");
}

// It had a place on the text thread when it came.
TEST_F(WaitingGrammar, GoesOnHoweverManyChatsWaitByThen) {
  std::future<http::Reply> waiting, others[2];
  {
    Held compiler(grammars);
    waiting = waits("a");
    Held reader(text);
    for (auto& other : others) {
      other = post(ask());
      awaits_chat();
    }
    EXPECT_EQ(post(ask()).get().status, 429) << "the queue of the text thread is full";
    compiler.release();
    grammars_have_run();
  }
  std::vector<std::string> grammars_of_all;
  for (auto* reply : {&others[0], &others[1], &waiting}) grammars_of_all.push_back(answered(*reply));
  EXPECT_EQ(grammars_of_all.back(), "a");
}

TEST_F(WaitingGrammar, IsNoneThatIsKept) {
  auto first = post(follows("a"));
  EXPECT_EQ(answered(first), "a");
  const http::Reply refused = post(follows("(")).get();
  EXPECT_EQ(refused.status, 400);
  Held held(grammars);
  auto again = post(follows("a"));
  EXPECT_EQ(answered(again), "a");
  EXPECT_EQ(post(follows("(")).get().body, refused.body);
}

TEST_F(WaitingGrammar, GoesOnWithAnothersThatIsTheSame) {
  std::future<http::Reply> first, between, same;
  {
    Held held(grammars);
    first = waits("a", "192.0.2.1");
    between = waits("b", "192.0.2.2");
    same = waits("a", "192.0.2.3");
  }
  EXPECT_EQ(answered(first), "a");
  EXPECT_EQ(answered(same), "a");
  EXPECT_EQ(answered(between), "b");
}

TEST_F(WaitingGrammar, TakesTurnsByAddressWhereThereIsNoKey) {
  std::future<http::Reply> first, second, others;
  {
    Held held(grammars);
    first = waits("a", "192.0.2.1");
    second = waits("b", "192.0.2.1");
    others = waits("c", "192.0.2.2");
  }
  EXPECT_EQ(answered(first), "a");
  EXPECT_EQ(answered(others), "c");
  EXPECT_EQ(answered(second), "b");
}

TEST_F(WaitingGrammar, IsNotCompiledForAClientThatHasLeft) {
  Held held(grammars);
  WireClient leaver(server.port());
  const std::string body = follows("a");
  leaver.send(fmt::format("{}Content-Length: {}\r\n\r\n{}", kPostHead, body.size(), body));
  awaits_chat();
  text_has_run();
  leaver.reset();
  while (server.counters().clients_gone == 0) std::this_thread::yield();
  EXPECT_EQ(get("/version").status, 200);  // the server's thread has told everybody by now
  EXPECT_EQ(api.door().inside(), 0) << "a router that stops would wait for it";
  held.release();
  grammars_have_run();
  EXPECT_FALSE(chats.try_acquire()) << "it goes on, to the router";
}

TEST_F(WaitingGrammar, IsGivenUpAsOtherRequestsThatWaitTooLong) {
  std::future<http::Reply> late, early;
  {
    Held held(grammars);
    late = waits("a", "192.0.2.1");
    now = 1s;
    early = waits("b", "192.0.2.2");
    now = 10s;
  }
  const http::Reply reply = late.get();
  EXPECT_EQ(reply.status, 503);
  EXPECT_EQ(json::parse(reply.body)["error"]["code"], "queue_timeout");
  EXPECT_EQ(reply.retry_after, "1");
  const auto submit = inbox.take<Submit>();
  EXPECT_EQ(submit.spec.grammar.text, "b");
  EXPECT_EQ(submit.waited, 9s) << "the router counts it";
  deliver(submit.request, "a<|im_end|>", Finish::stop);
  EXPECT_EQ(early.get().status, 200);
}

TEST_F(WaitingGrammar, IsTurnedAwayWhereTooManyGrammarsWait) {
  std::future<http::Reply> first, second;
  {
    Held held(grammars);
    first = waits("a");
    second = waits("b");
    const http::Reply reply = post(follows("c")).get();
    EXPECT_EQ(reply.status, 429);
    EXPECT_EQ(json::parse(reply.body)["error"]["code"], "grammars_full");
    EXPECT_EQ(reply.retry_after, "1");
  }
  EXPECT_EQ(answered(first), "a");
  EXPECT_EQ(answered(second), "b");
}

// A queue of whatever is posted.
struct Turns {
  std::deque<GrammarQueue::Turn> posted;
  size_t most = 100;
  GrammarQueue::Clock::time_point now;
  GrammarQueue queue{small_grammars(),
                     120s,
                     {.post =
                          [this](GrammarQueue::Turn turn) {
                            if (posted.size() >= most) return false;
                            posted.push_back(std::move(turn));
                            return true;
                          },
                      .now = [this] { return now; }}};

  ApiResult<GrammarQueue::Over> wait(GrammarQueue::Clock::duration takes) {
    return queue.wait({.by = 1, .text = {}, .go_on = [this, takes](auto) { now += takes; }, .give_up = [](const auto&) {}});
  }
  void turn() {
    posted.front().run();
    posted.pop_front();
  }
};

TEST(GrammarQueueTest, SaysHowLongItTakesNow) {
  Turns turns;
  ASSERT_TRUE(turns.wait(500ms));
  turns.turn();
  for (int waiting = 0; waiting < 5; ++waiting) ASSERT_TRUE(turns.wait(0ms));
  turns.most = 0;
  EXPECT_EQ(turns.wait(0ms).error().retry_after_s, 3) << "five of half a second each";
}

TEST(GrammarQueueTest, CountsNoneThatNobodyWaitsFor) {
  Turns turns;
  ASSERT_TRUE(turns.wait(10s));
  turns.turn();
  std::vector<GrammarQueue::Over> overs;
  for (int waiting = 0; waiting < 20; ++waiting) overs.push_back(turns.wait(0ms).value());
  turns.most = 0;
  EXPECT_EQ(turns.wait(0ms).error().retry_after_s, kRetryMostSeconds);
  for (size_t gone = 1; gone < overs.size(); ++gone) *overs[gone] = true;
  EXPECT_EQ(turns.wait(0ms).error().retry_after_s, 10);
}

TEST_F(WaitingGrammar, CameInTimeIfItCameBeforeTheRouterWasToldToStop) {
  std::future<http::Reply> waits, late;
  {
    Held held(grammars);
    waits = post(ask(R"("guided_regex":"a")"));
    awaits_chat();
    EXPECT_EQ(api.door().inside(), 1);
    api.door().close();
    late = post(ask());
    const auto plain = inbox.take<Submit>();
    EXPECT_FALSE(plain.came_in_time);
    deliver(plain.request, "x<|im_end|>", Finish::stop);
    EXPECT_EQ(late.get().status, 200);
    EXPECT_EQ(api.door().inside(), 1);
  }
  const auto submit = inbox.take<Submit>();
  EXPECT_TRUE(submit.came_in_time);
  deliver(submit.request, "a<|im_end|>", Finish::stop);
  EXPECT_EQ(waits.get().status, 200);
  while (api.door().inside() > 0) std::this_thread::yield();  // it is the router's, once both threads have dropped it
}

TEST_F(WaitingGrammar, IsNotCompiledAfterTheEndOfTheDrain) {
  std::future<http::Reply> waits;
  {
    Held held(grammars);
    waits = post(ask(R"("guided_regex":"a")"));
    awaits_chat();
    std::promise<void> read;
    EXPECT_TRUE(text.post([&] { read.set_value(); }));  // behind the request, whose grammar waits then
    read.get_future().wait();
    api.door().close();
    api.door().shut();
  }
  const http::Reply reply = waits.get();
  EXPECT_EQ(reply.status, 503);
  EXPECT_EQ(json::parse(reply.body)["error"]["code"], "shutting_down");
}

}  // namespace
}  // namespace slipstream
