// What a server makes of requests, good and bad.
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

class HttpRequest : public EchoServer {};

// Anthropic's clients send their key so.
TEST(HttpKeys, ComeInEitherHeader) {
  auto server = Server::listen(
      "127.0.0.1", 0, [](Request request, Exchange exchange) { exchange.send({.body = request.authorization}); }, plain_error);
  ASSERT_TRUE(server) << server.error().message;
  WireClient client(server->port());
  const auto told = [&](const std::string& headers) {
    client.send("GET / HTTP/1.1\r\nHost: h\r\n" + headers + "\r\n");
    const std::string answer = client.answer();
    return answer.substr(answer.find("\r\n\r\n") + 4);
  };
  EXPECT_EQ(told("Authorization: Bearer one\r\n"), "Bearer one");
  EXPECT_EQ(told("X-Api-Key: two\r\n"), "Bearer two");
  EXPECT_EQ(told("Authorization: Bearer one\r\nx-api-key: two\r\n"), "Bearer one");
  EXPECT_EQ(told(""), "");
}

TEST(HttpClientsAddress, ComesWithTheRequest) {
  auto server = Server::listen(
      "127.0.0.1", 0, [](Request request, Exchange exchange) { exchange.send({.body = request.client}); }, plain_error);
  ASSERT_TRUE(server) << server.error().message;
  WireClient client(server->port());
  client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(client.answer(), EndsWith("\r\n\r\n127.0.0.1"));
}

TEST_F(HttpRequest, ReachesTheHandlerInItsParts) {
  start();
  auto wire = client();
  wire.send("POST /v1/x?a=b&c HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}");
  EXPECT_THAT(wire.answer(), AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), EndsWith("POST /v1/x?a=b&c application/json {}")));
}

TEST_F(HttpRequest, MayComeByteByByte) {
  start();
  auto wire = client();
  for (char c : std::string("POST /slow HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc")) wire.send({&c, 1});
  EXPECT_THAT(wire.answer(), EndsWith("POST /slow?  abc"));
}

TEST_F(HttpRequest, MayHaveAChunkedBody) {
  start();
  auto wire = client();
  wire.send("POST /c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n");
  EXPECT_THAT(wire.answer(), EndsWith("POST /c?  abcde"));
}

TEST_F(HttpRequest, IsOneOfManyOnAConnection) {
  start();
  auto wire = client();
  for (int i = 0; i < 500; ++i) {
    wire.send(fmt::format("GET /{} HTTP/1.1\r\nHost: h\r\n\r\n", i));
    ASSERT_THAT(wire.answer(), EndsWith(fmt::format("GET /{}?  ", i)));
  }
  EXPECT_EQ(server_->counters().requests, 500u);
  EXPECT_EQ(server_->counters().connections, 1u);
}

TEST_F(HttpRequest, IsAnsweredInItsTurnWhenPipelined) {
  start();
  auto wire = client();
  wire.send(
      "GET /held HTTP/1.1\r\nHost: h\r\n\r\nGET /second HTTP/1.1\r\nHost: h\r\n\r\n\r\nGET /third HTTP/1.1\r\nHost: h\r\n\r\n");
  held().send({.body = "first"});
  EXPECT_THAT(wire.answer(), EndsWith("first"));
  EXPECT_THAT(wire.answer(), EndsWith("GET /second?  "));
  EXPECT_THAT(wire.answer(), EndsWith("GET /third?  "));
}

TEST_F(HttpRequest, MayBePipelinedBeyondWhatTheServerHolds) {
  start();
  auto wire = client();
  const int requests = 20'000;  // about 600 KB, more than kHttpPipelinedBytesMax
  wire.send("GET /held HTTP/1.1\r\nHost: h\r\n\r\n");
  std::thread sender([&] {
    for (int i = 0; i < requests; ++i) wire.send("GET /p HTTP/1.1\r\nHost: h\r\n\r\n");
  });
  held().send({.body = "first"});
  EXPECT_THAT(wire.answer(), EndsWith("first"));
  for (int i = 0; i < requests; ++i) ASSERT_THAT(wire.answer(), EndsWith("GET /p?  ")) << i;
  sender.join();
}

TEST_F(HttpRequest, ClosesTheConnectionWhenItAsksForThat) {
  start();
  auto wire = client();
  wire.send("GET /x HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(wire.all(), AllOf(HasSubstr("Connection: close"), EndsWith("GET /x?  ")));
}

TEST_F(HttpRequest, MayBeHttp10) {
  start();
  auto wire = client();
  wire.send("GET /old HTTP/1.0\r\n\r\n");
  EXPECT_THAT(wire.all(), EndsWith("GET /old?  "));
}

TEST_F(HttpRequest, OfMethodHeadGetsTheLengthAndNoBody) {
  start();
  auto wire = client();
  wire.send("HEAD /x HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(wire.until("\r\n\r\n"), AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("Content-Length: 10\r\n")));
  wire.send("GET /y HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(wire.answer(), StartsWith("HTTP/1.1 200"));  // at once: no body of the HEAD in between
}

TEST_F(HttpRequest, OfAnUnknownMethodIsTheHandlersDecision) {
  start();
  auto wire = client();
  wire.send("BREW /pot HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(wire.answer(), EndsWith("BREW /pot?  "));
}

TEST_F(HttpRequest, WithABodyAtTheLimitIsTaken) {
  start({.body_bytes = 100});
  auto wire = client();
  wire.send("POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\n" + std::string(100, 'a'));
  EXPECT_THAT(wire.answer(), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpRequest, GetsItsRefusalEvenWhileItStillSends) {
  start({.body_bytes = 100});
  auto wire = client();
  wire.send("POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 5000000\r\n\r\n");
  wire.send(std::string(1'000'000, 'a'));
  EXPECT_THAT(wire.all(), StartsWith("HTTP/1.1 413"));
}

TEST_F(HttpRequest, WithAChunkedBodyOverTheLimitIsRefused) {
  start({.body_bytes = 100});
  auto wire = client();
  wire.send("POST /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3c\r\n" + std::string(60, 'a') + "\r\n3c\r\n" +
            std::string(60, 'a') + "\r\n");
  EXPECT_THAT(wire.all(), StartsWith("HTTP/1.1 413"));
}

TEST_F(HttpRequest, WithAnotherTransferEncodingThanChunksIsRefused) {
  start();
  for (const std::string encoding : {"gzip", "gzip, chunked", "identity"}) {
    auto wire = client();
    wire.send(fmt::format("POST /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: {}\r\n\r\nGET /y HTTP/1.1\r\n\r\n", encoding));
    EXPECT_THAT(wire.all(), AllOf(StartsWith("HTTP/1.1 400"), Not(HasSubstr("200 OK")))) << encoding;
  }
}

TEST_F(HttpRequest, IsRefusedWhenAllBodiesTogetherAreTooMuchAndTheOthersGoOn) {
  start({.receiving_bytes = 100});
  const std::string head = "POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 61\r\n\r\n";
  auto first = client();
  first.send(head + std::string(60, 'a'));
  fence();
  auto second = client();
  second.send(head + std::string(60, 'b'));
  EXPECT_THAT(second.all(), AllOf(StartsWith("HTTP/1.1 503"), HasSubstr("too many bodies")));
  first.send("a");
  EXPECT_THAT(first.answer(), EndsWith(std::string(61, 'a')));
  auto third = client();
  third.send(head + std::string(61, 'c'));
  EXPECT_THAT(third.answer(), StartsWith("HTTP/1.1 200")) << "the first's bytes count no more";
}

TEST_F(HttpRequest, WithAnEndlessChunkHeaderIsRefused) {
  start();
  auto wire = client();
  wire.send("POST /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3;");
  wire.send(std::string(200'000, 'x'));
  EXPECT_THAT(wire.all(), StartsWith("HTTP/1.1 4"));
}

TEST_F(HttpRequest, WithALargeHeaderIsRefused) {
  start();
  auto wire = client();
  wire.send("GET /x HTTP/1.1\r\nHost: h\r\nX: " + std::string(kHttpHeaderBytesMax, 'x') + "\r\n\r\n");
  EXPECT_THAT(wire.all(), StartsWith("HTTP/1.1 431"));
  EXPECT_EQ(server_->counters().bad_requests, 1u);
}

TEST_F(HttpRequest, WithAnEndlessHeaderIsRefused) {
  start();
  auto wire = client();
  wire.send("GET /" + std::string(100'000, 'x'));
  EXPECT_THAT(wire.all(), StartsWith("HTTP/1.1 431"));
}

TEST_F(HttpRequest, ThatIsMalformedIsRefusedInTheCallersShape) {
  start();
  const std::string large(30, '9');
  for (const std::string& text :
       {std::string("GET\r\n\r\n"), std::string("GET /x HTTP/3.7\r\n\r\n"), std::string("GET /x\r\n\r\n"),
        std::string("GET /x HTTP/1.1\r\nHost: h\r\nno colon\r\n\r\n"),
        std::string("POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n"),
        "POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: " + large + "\r\n\r\n",
        std::string("POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"),
        std::string("POST /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nnot hex\r\n"),
        std::string("POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        std::string("GET /x\0y HTTP/1.1\r\nHost: h\r\n\r\n", 30)}) {
    auto wire = client();
    wire.send(text);
    EXPECT_THAT(wire.all(), AllOf(StartsWith("HTTP/1.1 400 Bad Request\r\n"), HasSubstr("Connection: close"),
                                  HasSubstr("400: this is not")))
        << testing::PrintToString(text);
  }
  EXPECT_EQ(server_->counters().requests, 0u);
}

// APIs write errors in different shapes.
TEST(HttpErrors, AreMadeWithThePathOfTheirRequest) {
  const auto tell_path = [](int status, std::string_view, std::string_view path) {
    return Response{.status = status, .body = fmt::format("at '{}'", path)};
  };
  auto server = Server::listen("127.0.0.1", 0, [](Request, Exchange) {}, tell_path, {.limits = {.body_bytes = 100}});
  ASSERT_TRUE(server) << server.error().message;
  const auto told = [&](const std::string& request) {
    WireClient client(server->port());
    client.send(request);
    const std::string answer = client.all();
    return answer.substr(answer.find("\r\n\r\n") + 4);
  };
  EXPECT_EQ(told("POST /a?b HTTP/1.1\r\nHost: h\r\nContent-Length: 101\r\n\r\n"), "at '/a'");
  EXPECT_EQ(told("POST /a HTTP/1.1\r\nHost: h\r\nno colon\r\n\r\n"), "at '/a'");
  EXPECT_EQ(told("POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\n\r\n"), "at '/a'");
  EXPECT_EQ(told("POST /a\r\n\r\n"), "at ''");
  EXPECT_EQ(told("GET /dropped HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"), "at '/dropped'");
}

TEST_F(HttpRequest, MadeOfNoiseIsRefusedAtOnce) {
  start();
  for (const std::string& noise :
       {std::string("\x16\x03\x01\x02\x00\x01", 6), std::string("\xff\0\0\0\0\0\0\0\x01\x7f", 10), std::string(100, '\0')}) {
    auto wire = client();
    wire.send(noise);
    EXPECT_THAT(wire.all(), StartsWith("HTTP/1.1 400")) << testing::PrintToString(noise);
  }
}

TEST_F(HttpRequest, ThatNeverEndsIsGivenUpAtTheDeadline) {
  start({.read = std::chrono::milliseconds(50)});
  auto head = client();
  head.send("GET /x HTTP/1.1\r\n");
  EXPECT_THAT(head.all(), StartsWith("HTTP/1.1 408"));
  auto body = client();
  body.send("POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc");
  EXPECT_THAT(body.all(), StartsWith("HTTP/1.1 408"));
}

TEST_F(HttpRequest, ThatNeverBeginsClosesTheConnectionWithoutAWord) {
  start({.idle = std::chrono::milliseconds(50)});
  auto wire = client();
  EXPECT_THAT(wire.all(), IsEmpty());
}

TEST_F(HttpRequest, ThatIsDroppedByTheHandlerGets500) {
  start();
  auto wire = client();
  wire.send("GET /dropped HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(wire.answer(), StartsWith("HTTP/1.1 500"));
  wire.send("GET /next HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(wire.answer(), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpRequest, OverTheConnectionLimitGets503) {
  start({.connections = 2});
  auto first = client();
  auto second = client();
  for (WireClient* wire : {&first, &second}) wire->send("GET /held HTTP/1.1\r\nHost: h\r\n\r\n");
  const Exchange exchanges[] = {held(), held()};
  EXPECT_THAT(client().all(), AllOf(StartsWith("HTTP/1.1 503"), HasSubstr("all 2 connections")));
  EXPECT_EQ(server_->counters().connections_refused, 1u);
  first.close();
  ASSERT_TRUE(eventually([](const ServerCounters& counters) { return counters.connections == 1; }));
  auto third = client();
  third.send("GET /x HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(third.answer(), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpRequest, OverTheConnectionLimitGets503HoweverManyThereAre) {
  start({.connections = 1});
  auto first = client();
  first.send("GET /held HTTP/1.1\r\nHost: h\r\n\r\n");
  const Exchange exchange = held();
  std::vector<WireClient> others;
  for (int i = 0; i < kHttpRefusalsMax + 20; ++i) others.push_back(client());
  for (WireClient& other : others) EXPECT_THAT(other.all(), AllOf(StartsWith("HTTP/1.1 503"), HasSubstr("all 1 connections")));
}

TEST_F(HttpRequest, TakesThePlaceOfWhoHasWaitedLongestWithoutOne) {
  start({.connections = 2});
  auto first = client();
  ASSERT_TRUE(eventually([](const ServerCounters& counters) { return counters.connections == 1; }));
  first.send("GET /x HT");
  auto second = client();
  ASSERT_TRUE(eventually([](const ServerCounters& counters) { return counters.connections == 2; }));
  auto third = client();
  third.send("GET /x HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(third.answer(), StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(first.all(), "") << "closed";
  second.send("GET /x HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(second.answer(), StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(server_->counters().connections_refused, 1u);
}

TEST_F(HttpRequest, MayBeOneOfTwoHundredAtATime) {
  start();
  std::vector<WireClient> clients;
  for (int i = 0; i < 200; ++i) {
    clients.push_back(client());
    clients.back().send("GET /held HTTP/1.1\r\nHost: h\r\n\r\n");
  }
  std::vector<Exchange> exchanges;
  for (int i = 0; i < 200; ++i) exchanges.push_back(held());
  EXPECT_EQ(server_->counters().connections, 200u);
  for (Exchange& exchange : exchanges) exchange.send({.body = "here"});
  for (WireClient& wire : clients) EXPECT_THAT(wire.answer(), EndsWith("here"));
}

TEST_F(HttpRequest, CannotAddAHeaderByWayOfAValue) {
  start();
  auto wire = client();
  wire.send("GET /held HTTP/1.1\r\nHost: h\r\n\r\n");
  held().send({.body = "x", .headers = {{"Retry-After", "1\r\nSet-Cookie: a=b"}}});
  EXPECT_THAT(wire.answer(), AllOf(HasSubstr("Retry-After: 1Set-Cookie: a=b\r\n"), Not(HasSubstr("\r\nSet-Cookie"))));
}

TEST_F(HttpRequest, CannotBeServedOnATakenPortOrAStrangeAddress) {
  start();
  const Handler ignore = [](Request, Exchange) {};
  const auto taken = Server::listen("127.0.0.1", port(), ignore, plain_error);
  ASSERT_FALSE(taken);
  EXPECT_THAT(taken.error().message, HasSubstr("is in use"));
  const auto strange = Server::listen("here", 0, ignore, plain_error);
  ASSERT_FALSE(strange);
  EXPECT_THAT(strange.error().message, HasSubstr("\"here\" is not an IP address"));
}

}  // namespace
}  // namespace slipstream::http
