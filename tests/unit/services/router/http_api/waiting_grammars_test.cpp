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
    return served;
  }
};

// Compiling may take a tenth of a second.
TEST_F(WaitingGrammar, LetsNoOtherRequestWait) {
  std::future<http::Reply> slow;
  {
    Held held(grammars);
    slow = post(ask(R"("guided_regex":"a")"));
    awaits_chat();
    auto plain = post(ask());
    const auto first = inbox.take<Submit>();
    EXPECT_TRUE(first.spec.grammar.empty()) << "it came later, and goes first";
    deliver(first.request, "x<|im_end|>", Finish::stop);
    EXPECT_EQ(plain.get().status, 200);
  }
  const auto second = inbox.take<Submit>();
  EXPECT_EQ(second.spec.grammar.text, "a");
  deliver(second.request, "a<|im_end|>", Finish::stop);
  EXPECT_EQ(slow.get().status, 200);
}

TEST_F(WaitingGrammar, IsNotCompiledForAClientThatHasLeft) {
  Held held(grammars);
  WireClient client(server.port());
  const std::string body = ask(R"("guided_regex":"a")");
  client.send(fmt::format("{}Content-Length: {}\r\n\r\n{}", kPostHead, body.size(), body));
  awaits_chat();
  std::promise<void> read;
  EXPECT_TRUE(text.post([&] { read.set_value(); }));  // behind the request, whose grammar waits then
  read.get_future().wait();
  client.reset();
  while (server.counters().clients_gone == 0) std::this_thread::yield();
  EXPECT_EQ(get("/version").status, 200);  // the server's thread has told everybody by now
  held.release();
  std::promise<void> behind_it;
  while (!grammars.post([&] { behind_it.set_value(); })) std::this_thread::yield();  // one waits at most
  behind_it.get_future().wait();
  EXPECT_FALSE(chats.try_acquire()) << "it goes on, to the router";
}

TEST_F(WaitingGrammar, IsTurnedAwayWhereTooManyGrammarsWait) {
  std::future<http::Reply> waits, full;
  {
    Held held(grammars);
    waits = post(ask(R"("guided_regex":"a")"));
    awaits_chat();
    full = post(ask(R"("guided_regex":"b")"));
    const http::Reply reply = full.get();
    EXPECT_EQ(reply.status, 429);
    EXPECT_EQ(json::parse(reply.body)["error"]["code"], "grammars_full");
    EXPECT_EQ(reply.retry_after, "1");
  }
  deliver(inbox.take<Submit>().request, "a<|im_end|>", Finish::stop);
  EXPECT_EQ(waits.get().status, 200);
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
