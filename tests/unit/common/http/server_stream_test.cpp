// Answers that take their time: streams, clients that leave, servers that stop.
#include <atomic>
#include <thread>

#include "tests/unit/common/http/echo_server.h"

namespace slipstream::http {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class HttpStream : public EchoServer {
 protected:
  static constexpr std::string_view kAsk = "GET /held HTTP/1.1\r\nHost: h\r\n\r\n";

  struct Asked {
    WireClient wire;
    Exchange exchange;
  };
  // A client that has sent this request, and the exchange that is to answer it.
  Asked asked(std::string_view request = kAsk, int receive_buffer_bytes = 0) {
    auto wire = client(receive_buffer_bytes);
    wire.send(request);
    return {std::move(wire), held()};
  }
  // The same, where the answer has begun as a stream.
  Asked streaming(std::string_view request = kAsk, int receive_buffer_bytes = 0) {
    Asked asked = this->asked(request, receive_buffer_bytes);
    asked.exchange.begin_stream("text/plain");
    return asked;
  }
};

TEST_F(HttpStream, ArrivesPieceByPiece) {
  start();
  auto [wire, exchange] = asked();
  exchange.begin_stream("text/event-stream");
  EXPECT_THAT(wire.until("\r\n\r\n"), AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("Content-Type: text/event-stream"),
                                            HasSubstr("Transfer-Encoding: chunked")));
  for (int i = 0; i < 100; ++i) {  // each is read before the next one is written
    exchange.write(fmt::format("data: {}\n\n", i));
    const std::string event = fmt::format("data: {}\n\n", i);
    ASSERT_EQ(wire.until("\n\n\r\n"), fmt::format("{:x}\r\n{}\r\n", event.size(), event));
  }
  exchange.end();
  EXPECT_EQ(wire.until("0\r\n\r\n"), "0\r\n\r\n");
  wire.send("GET /next HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(wire.answer(), EndsWith("GET /next?  "));
}

TEST_F(HttpStream, KeepsTheOrderOfItsPieces) {
  start();
  auto [wire, exchange] = streaming();
  std::string expected;
  for (int i = 0; i < 5000; ++i) {
    exchange.write(fmt::format("{},", i));
    expected += fmt::format("{},", i);
  }
  exchange.end();
  std::string text;
  wire.until("\r\n\r\n");
  for (;;) {
    const size_t size = std::stoul(wire.until("\r\n"), nullptr, 16);
    const std::string chunk = wire.until("\r\n");
    if (size == 0) break;
    text += chunk.substr(0, size);
  }
  EXPECT_EQ(text, expected);
}

TEST_F(HttpStream, SkipsEmptyPiecesWhichWouldEndIt) {
  start();
  auto [wire, exchange] = streaming();
  exchange.write("");
  exchange.write("a");
  exchange.end();
  EXPECT_THAT(wire.until("0\r\n\r\n"), EndsWith("\r\n\r\n1\r\na\r\n0\r\n\r\n"));
}

TEST_F(HttpStream, EndsWithTheConnectionForHttp10) {
  start();
  auto [wire, exchange] = streaming("GET /held HTTP/1.0\r\n\r\n");
  exchange.write("one ");
  exchange.write("two");
  exchange.end();
  EXPECT_THAT(wire.all(), AllOf(EndsWith("\r\n\r\none two"), Not(HasSubstr("chunked"))));
}

TEST_F(HttpStream, EndsWithTheConnectionForHttp10ThoughNothingIsLeftToSend) {
  start();
  auto [wire, exchange] = streaming("GET /held HTTP/1.0\r\n\r\n");
  exchange.write("one");
  EXPECT_THAT(wire.until("one"), EndsWith("\r\n\r\none"));
  fence();  // the server knows that it is sent
  exchange.end();
  EXPECT_THAT(wire.all(), IsEmpty());
}

TEST_F(HttpStream, EndsForHttp10WhateverTheClientHasSentOnTop) {
  start();
  {
    auto [wire, exchange] =
        streaming("GET /held HTTP/1.0\r\n\r\n" + std::string(100'000, 'x'));  // beyond kHttpPipelinedBytesMax
    exchange.write("one");
    EXPECT_THAT(wire.until("one"), EndsWith("one"));
    fence();
    exchange.end();
    EXPECT_THAT(wire.all(), IsEmpty());
  }
  EXPECT_TRUE(eventually([](const ServerCounters& counters) { return counters.connections == 0; }));
  server_.reset();
}

TEST_F(HttpStream, ForHeadLeavesTheConnectionToTheNextRequest) {
  start();
  auto [wire, exchange] = streaming("HEAD /held HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(wire.until("\r\n\r\n"), StartsWith("HTTP/1.1 200"));
  exchange.write("unseen");
  fence();
  exchange.end();
  wire.send("GET /next HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(wire.answer(), EndsWith("GET /next?  "));
}

TEST_F(HttpStream, HasNoBodyForHead) {
  start();
  auto [wire, exchange] = streaming("HEAD /held HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  exchange.write("unseen");
  exchange.end();
  EXPECT_THAT(wire.all(), EndsWith("\r\n\r\n"));
}

TEST_F(HttpStream, ThatIsAbortedEndsWithoutItsLastChunk) {
  start();
  auto [wire, exchange] = streaming();
  exchange.write("half");
  EXPECT_THAT(wire.until("half\r\n"), EndsWith("half\r\n"));
  exchange.abort();
  EXPECT_THAT(wire.all(), IsEmpty());
  EXPECT_EQ(server_->counters().clients_gone, 0u);
}

TEST_F(HttpStream, ThatIsForgottenIsCut) {
  start();
  auto wire = client();
  wire.send(kAsk);
  {
    Exchange exchange = held();
    exchange.begin_stream("text/plain");
    exchange.write("half");
  }
  EXPECT_THAT(wire.all(), Not(EndsWith("0\r\n\r\n")));
}

TEST_F(HttpStream, TellsOfAClientThatLeftInTheMiddle) {
  start();
  for (const bool crashed : {false, true}) {
    auto [wire, exchange] = streaming();
    Happening gone;
    exchange.on_gone([&] { gone.happen(); });
    exchange.write("half");
    wire.until("half\r\n");
    crashed ? wire.reset() : wire.close();
    EXPECT_TRUE(gone.wait());
    exchange.write("more");  // into nothing
    exchange.end();
    exchange.abort();
  }
  EXPECT_TRUE(eventually([](const ServerCounters& counters) { return counters.connections == 0; }));
  EXPECT_EQ(server_->counters().clients_gone, 2u);
}

TEST_F(HttpStream, TellsOfAClientThatLeftBeforeTheAnswerBegan) {
  start();
  auto [wire, exchange] = asked();
  Happening gone;
  exchange.on_gone([&] { gone.happen(); });
  wire.close();
  EXPECT_TRUE(gone.wait());
  exchange.send({.body = "too late"});
}

TEST_F(HttpStream, TellsOfAClientThatLeftBeforeAnybodyAsked) {
  start();
  auto [wire, exchange] = asked();
  wire.close();
  ASSERT_TRUE(eventually([](const ServerCounters& counters) { return counters.clients_gone == 1; }));
  Happening gone;
  exchange.on_gone([&] { gone.happen(); });
  EXPECT_TRUE(gone.wait());
}

TEST_F(HttpStream, TellsOnlyOnceAndNotAfterItsEnd) {
  start();
  auto [wire, exchange] = asked();
  Happening gone;
  exchange.on_gone([&] { gone.happen(); });
  exchange.send({.body = "done"});
  EXPECT_THAT(wire.answer(), EndsWith("done"));
  wire.close();
  ASSERT_TRUE(eventually([](const ServerCounters& counters) { return counters.connections == 0; }));
  EXPECT_EQ(gone.times(), 0);
}

TEST_F(HttpStream, IgnoresASecondAnswer) {
  start();
  auto [wire, exchange] = asked();
  exchange.send({.body = "one"});
  exchange.send({.body = "two"});
  exchange.begin_stream("text/plain");
  EXPECT_THAT(wire.answer(), EndsWith("one"));
  wire.send(kAsk);
  Exchange next = held();
  exchange.send({.body = "three"});  // of the request before
  next.send({.body = "four"});
  EXPECT_THAT(wire.answer(), EndsWith("four"));
}

TEST_F(HttpStream, CutsAReaderThatFallsTooFarBehind) {
  start({.unsent_bytes = 64 * 1024});
  auto [wire, exchange] = streaming(kAsk, 4096);
  std::atomic<bool> gone = false;
  exchange.on_gone([&] { gone = true; });
  const std::string piece(16 * 1024, 'x');
  size_t written = 0;
  const size_t enough = size_t{1} << 30;  // far beyond what any kernel buffers
  for (; !gone && written < enough; written += piece.size()) {
    exchange.write(piece);
    std::this_thread::yield();
  }
  EXPECT_LT(written, enough);
  EXPECT_EQ(server_->counters().slow_readers, 1u);
  EXPECT_EQ(server_->counters().clients_gone, 1u);
}

TEST_F(HttpStream, IsNotHeldUpByASlowReaderBesideIt) {
  start({.unsent_bytes = 100'000});
  auto slow = client(4096), other = client();
  for (WireClient* wire : {&slow, &other}) wire->send("GET /held HTTP/1.1\r\nHost: h\r\n\r\n");
  Exchange to_slow = held(), to_other = held();
  Happening gone;
  to_slow.on_gone([&] { gone.happen(); });
  to_slow.begin_stream("text/plain");
  to_other.begin_stream("text/plain");
  other.until("\r\n\r\n");
  // Until the slow one is cut, which is sometime after its window and the buffers are full.
  for (int i = 0; gone.times() == 0; ++i) {
    ASSERT_LT(i, 100'000) << "it was never cut";
    to_slow.write(std::string(1000, 's'));
    to_other.write(fmt::format("<{}>", i));
    other.until(fmt::format("<{}>", i));
  }
  EXPECT_EQ(server_->counters().slow_readers, 1u);
  EXPECT_EQ(server_->counters().connections, 1u);
}

TEST_F(HttpStream, CutsAReaderThatTakesNothingForTooLong) {
  start({.unsent_bytes = size_t{1} << 30, .stall = std::chrono::milliseconds(50)});
  auto [wire, exchange] = streaming(kAsk, 4096);
  Happening gone;
  exchange.on_gone([&] { gone.happen(); });
  exchange.write(std::string(size_t{32} << 20, 'x'));
  EXPECT_TRUE(gone.wait());
  EXPECT_EQ(server_->counters().slow_readers, 1u);
}

TEST_F(HttpStream, CarriesAWholeAnswerOfAnySizeToAReaderThatTakesIt) {
  start();
  auto wire = client();
  wire.send(kAsk);
  const std::string body(size_t{20} << 20, 'x');
  held().send({.body = body});
  const std::string answer = wire.answer();
  EXPECT_TRUE(answer.ends_with("\r\n\r\n" + body));
}

TEST_F(HttpStream, MayBeWrittenFromManyThreads) {
  start();
  std::vector<WireClient> clients;
  std::vector<std::thread> writers;
  for (int i = 0; i < 16; ++i) {
    clients.push_back(client());
    clients.back().send(kAsk);
  }
  for (int i = 0; i < 16; ++i) {
    writers.emplace_back([exchange = held()]() mutable {
      exchange.on_gone([] {});
      exchange.begin_stream("text/plain");
      for (int piece = 0; piece < 200; ++piece) exchange.write("piece");
      exchange.end();
    });
  }
  for (int i = 0; i < 16; ++i) {
    if (i % 4 == 0) {
      clients[static_cast<size_t>(i)].reset();  // some leave
    } else {
      EXPECT_THAT(clients[static_cast<size_t>(i)].until("0\r\n\r\n"), EndsWith("0\r\n\r\n"));
    }
  }
  for (std::thread& writer : writers) writer.join();
}

TEST_F(HttpStream, EndsWhenItsServerStops) {
  start();
  auto [wire, exchange] = streaming();
  Happening gone;
  exchange.on_gone([&] { gone.happen(); });
  exchange.write("half");
  wire.until("half\r\n");
  std::atomic<bool> stopped = false;
  std::thread writer([&] {
    while (!stopped) exchange.write("more");
  });
  server_.reset();
  stopped = true;
  writer.join();
  EXPECT_THAT(wire.all(), Not(HasSubstr("0\r\n\r\n")));
  exchange.write("into nothing");
  exchange.end();
  EXPECT_EQ(gone.times(), 0);
}

TEST_F(HttpStream, StopsItsServerWithIdleClientsConnected) {
  start();
  std::vector<WireClient> clients;
  for (int i = 0; i < 20; ++i) clients.push_back(client());
  clients[0].send("GET /ha");
  server_.reset();
  for (WireClient& wire : clients) EXPECT_THAT(wire.all(), IsEmpty());
}

TEST_F(HttpStream, IsFinishedByAServerThatFinishes) {
  start();
  auto wire = client(), idle = client();
  idle.send("GET /next HTTP/1.1\r\nHost: h\r\n\r\n");
  idle.answer();
  wire.send(kAsk);
  Exchange exchange = held();
  exchange.begin_stream("text/plain");
  std::jthread finishes([this] { server_->finish(std::chrono::seconds(10)); });
  EXPECT_THAT(idle.all(), IsEmpty());
  exchange.write("the last words");
  exchange.end();
  EXPECT_THAT(wire.all(), HasSubstr("the last words\r\n0\r\n\r\n"));
}

TEST_F(HttpStream, EndsItsConnectionOnceTheServerKeepsNone) {
  start();
  auto wire = client(), kept = client(), fresh = client();
  kept.send("GET /next HTTP/1.1\r\nHost: h\r\n\r\n");
  kept.answer();
  wire.send(kAsk);
  Exchange exchange = held();
  exchange.begin_stream("text/plain");
  server_->keep_no_connection();
  EXPECT_THAT(kept.all(), IsEmpty()) << "it is closed at once";
  exchange.write("the last words");
  exchange.end();
  EXPECT_THAT(wire.all(), HasSubstr("the last words\r\n0\r\n\r\n"));
  fresh.send("GET /late HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(fresh.all(), AllOf(HasSubstr("Connection: close"), EndsWith("GET /late?  "))) << "one request is taken of each";
}

// The kernel repeats its part of a handshake after 1 s: the server listens for long enough.
TEST_F(HttpStream, IsServedToTheClientWhoseHandshakeWasUnderWayWhenTheServerFinished) {
  start({.handshake = std::chrono::milliseconds(2'500)});
  auto idle = client(), late = WireClient::deaf(port());
  idle.send("GET /next HTTP/1.1\r\nHost: h\r\n\r\n");
  idle.answer();
  std::jthread finishes([this] { server_->finish(std::chrono::seconds(20)); });
  ASSERT_EQ(late.hears(), 0);
  late.send("GET /late HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(late.all(), EndsWith("GET /late?  "));
  EXPECT_THAT(idle.all(), IsEmpty());
}

TEST_F(HttpStream, DoesNotHoldAServerThatFinishesForLong) {
  start();
  auto [wire, exchange] = streaming();
  server_->finish(std::chrono::milliseconds(1));
}

}  // namespace
}  // namespace slipstream::http
