// Clients that shut their sending side behind a request, and those that then leave.
#include "tests/unit/common/http/echo_server.h"

namespace slipstream::http {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class HttpHalfClose : public EchoServer {
 protected:
  static constexpr std::string_view kAsk = "POST /held HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n{}";

  struct Asked {
    WireClient wire;
    Exchange exchange;
  };
  // A client that has sent this, and nothing more; the server knows it.
  Asked asked(std::string_view request = kAsk) {
    auto wire = client();
    wire.send(request);
    wire.finish_sending();
    Exchange exchange = held();
    EXPECT_EQ(wire.until("H"), "H") << "a byte of the answer, sent ahead";
    return {std::move(wire), std::move(exchange)};
  }
};

TEST_F(HttpHalfClose, LeavesAnAnswerWholeHoweverLongItTakes) {
  start();
  auto [wire, exchange] = asked();
  Happening gone;
  exchange.on_gone([&] { gone.happen(); });
  EXPECT_EQ(wire.until("TT"), "TT") << "two more bytes, after pauses";
  exchange.send({.body = "here"});
  EXPECT_THAT(wire.all(), AllOf(StartsWith("P/1.1 200 OK\r\n"), EndsWith("\r\n\r\nhere"))) << "and the connection ends";
  EXPECT_EQ(gone.times(), 0);
  EXPECT_EQ(logged().end, Access::End::answered);
  EXPECT_EQ(server_->counters().clients_gone, 0u);
}

TEST_F(HttpHalfClose, LeavesAStreamWhole) {
  start();
  auto [wire, exchange] = asked();
  exchange.begin_stream("text/plain");
  EXPECT_THAT(wire.until("\r\n\r\n"), AllOf(StartsWith("TTP/1.1 200 OK\r\n"), HasSubstr("chunked")));
  std::string text;
  for (const std::string piece : {"one", "two", "three"}) {
    if (piece == "two") {
      EXPECT_EQ(wire.until("0"), "0") << "a zero of its size, sent ahead";
    }
    exchange.write(piece);
    EXPECT_EQ(std::stoul(wire.until("\r\n"), nullptr, 16), piece.size());
    EXPECT_EQ(wire.until("\r\n"), piece + "\r\n");
  }
  exchange.end();
  EXPECT_EQ(wire.all(), "0\r\n\r\n");
  EXPECT_EQ(server_->counters().clients_gone, 0u);
}

TEST_F(HttpHalfClose, ComesInTheMiddleOfAStream) {
  start();
  auto wire = client();
  wire.send(kAsk);
  Exchange exchange = held();
  exchange.begin_stream("text/plain");
  exchange.write("one");
  EXPECT_THAT(wire.until("one\r\n"), EndsWith("3\r\none\r\n"));
  wire.finish_sending();
  EXPECT_EQ(wire.until("0"), "0");
  exchange.end();
  EXPECT_EQ(wire.all(), "0\r\n\r\n") << "the last chunk is 00";
}

TEST_F(HttpHalfClose, LeavesEachRequestThatIsWholeItsAnswer) {
  start();
  auto [wire, exchange] = asked(std::string(kAsk) + "GET /second HTTP/1.1\r\nHost: h\r\n\r\nGET /thi");
  exchange.send({.body = "first"});
  EXPECT_THAT("H" + wire.answer(), AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), EndsWith("first")));
  EXPECT_THAT(wire.all(), AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), EndsWith("GET /second?  ")));
  EXPECT_EQ(server_->counters().requests, 2u);
}

TEST_F(HttpHalfClose, LeavesAnAnswerInHttp10Whole) {
  start();
  auto [whole, exchange] = asked("POST /held HTTP/1.0\r\nContent-Length: 2\r\n\r\n{}");
  exchange.send({.body = "here"});
  EXPECT_THAT(whole.all(), AllOf(StartsWith("TTP/1.1 200 OK\r\n"), EndsWith("here")));
  auto [streamed, stream] = asked("POST /held HTTP/1.0\r\nContent-Length: 2\r\n\r\n{}");
  stream.begin_stream("text/plain");
  stream.write("one ");
  stream.write("two");
  stream.end();
  EXPECT_THAT(streamed.all(), EndsWith("\r\n\r\none two"));
}

TEST_F(HttpHalfClose, GivesNothingToHalfARequest) {
  start();
  auto wire = client();
  wire.send("POST /held HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n{");
  wire.finish_sending();
  EXPECT_THAT(wire.all(), IsEmpty());
}

TEST_F(HttpHalfClose, IsNoExcuseForAClientThatLeavesLater) {
  start();
  for (const bool streams : {false, true}) {
    for (const bool crashes : {false, true}) {
      auto [wire, exchange] = asked();
      Happening gone;
      exchange.on_gone([&] { gone.happen(); });
      if (streams) exchange.begin_stream("text/plain");
      fence();
      EXPECT_EQ(gone.times(), 0);
      crashes ? wire.reset() : wire.close();
      EXPECT_TRUE(gone.wait()) << streams << crashes;
    }
  }
  EXPECT_EQ(server_->counters().clients_gone, 4u);
}

TEST_F(HttpHalfClose, IsToldApartFromACrashAtOnceAndNotByTheNextByte) {
  start();
  auto [wire, exchange] = asked();
  EXPECT_EQ(wire.until("TT"), "TT") << "the next one comes 2 s later";
  Happening gone;
  exchange.on_gone([&] { gone.happen(); });
  wire.reset();
  EXPECT_TRUE(gone.wait());
  EXPECT_EQ(logged().bytes, 3u);
}

}  // namespace
}  // namespace slipstream::http
