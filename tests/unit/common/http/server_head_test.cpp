// What a server makes of a request's head: whom it calls, and what it expects.
#include "tests/unit/common/http/echo_server.h"

namespace slipstream::http {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

class HttpHead : public EchoServer {};

TEST_F(HttpHead, IsToldToContinueWhenItExpectsThat) {
  start();
  auto wire = client();
  wire.send("POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nExpect: 100-Continue\r\n\r\n");
  EXPECT_EQ(wire.until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  wire.send("abc");
  EXPECT_THAT(wire.answer(), EndsWith("POST /x?  abc"));
}

TEST_F(HttpHead, IsRefusedWhenItExpectsAnythingElse) {
  start();
  for (const std::string_view expects :
       {"Expect: tea\r\n", "Expect: 100-continue, tea\r\n", "Expect: 100-continue\r\nExpect: tea=hot\r\n"}) {
    auto wire = client();
    wire.send(fmt::format("POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n{}\r\n", expects));
    EXPECT_THAT(wire.all(), AllOf(StartsWith("HTTP/1.1 417 Expectation Failed\r\n"), HasSubstr("Connection: close")))
        << expects;
  }
  EXPECT_EQ(server_->counters().bad_requests, 3U);
  auto twice = client();
  twice.send("POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nExpect: , 100-CONTINUE, 100-continue\r\n\r\n");
  EXPECT_EQ(twice.until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  auto old = client();
  old.send("POST /x HTTP/1.0\r\nContent-Length: 3\r\nExpect: 100-continue, tea\r\n\r\nabc");
  EXPECT_THAT(old.all(), AllOf(StartsWith("HTTP/1.1 200"), EndsWith("abc"))) << "HTTP/1.0 has no expectations";
}

TEST_F(HttpHead, IsNotToldToContinueWhenItsBodyIsTooLarge) {
  start({.body_bytes = 100});
  auto wire = client();
  wire.send("POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 101\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_THAT(wire.all(),
              AllOf(StartsWith("HTTP/1.1 413"), HasSubstr("Connection: close"), HasSubstr("larger than 100 bytes")));
}

TEST_F(HttpHead, NamesOneHost) {
  start();
  for (const std::string_view headers : {"", "Host: a\r\nHost: a\r\n", "Host: a\r\nX: y\r\nhost: b\r\n"}) {
    auto wire = client();
    wire.send(fmt::format("POST /x HTTP/1.1\r\n{}Content-Length: 2\r\n\r\n{{}}", headers));
    EXPECT_THAT(wire.all(), AllOf(StartsWith("HTTP/1.1 400"), HasSubstr("Host headers, and must have one"))) << headers;
  }
  auto old = client();
  old.send("GET /old HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n");
  EXPECT_THAT(old.all(), StartsWith("HTTP/1.1 400"));
  EXPECT_EQ(server_->counters().requests, 0u);
}

TEST_F(HttpHead, OfHttp11NamesAHostByItsHeader) {
  start();
  for (const char* value : {"", " ", " a b", " http://a", " h:x"}) {
    auto wire = client();
    wire.send(fmt::format("GET /x HTTP/1.1\r\nHost:{}\r\n\r\n", value));
    EXPECT_THAT(wire.all(), AllOf(StartsWith("HTTP/1.1 400"), HasSubstr("its Host header names no host"))) << value;
  }
  auto old = client();
  old.send("GET /old HTTP/1.0\r\nHost:\r\n\r\n");
  EXPECT_THAT(old.all(), EndsWith("GET /old?  "));
}

TEST_F(HttpHead, MayNameAWholeUrl) {
  start();
  auto wire = client();
  wire.send("POST http://h:80/v1/x?a=b HTTP/1.1\r\nHost: other\r\nContent-Length: 2\r\n\r\n{}");
  EXPECT_THAT(wire.answer(), EndsWith("POST /v1/x?a=b  {}"));
  EXPECT_EQ(logged().path, "/v1/x");
  for (const char* url : {"http:///x", "http://me:secret@h/x"}) {
    auto bad = client();
    bad.send(fmt::format("GET {} HTTP/1.1\r\nHost: h\r\n\r\n", url));
    EXPECT_THAT(bad.all(), AllOf(StartsWith("HTTP/1.1 400"), HasSubstr("its target is a URL"))) << url;
  }
}

TEST(HttpHosts, AreThoseOfTheUrlOrOfTheHeader) {
  auto server = Server::listen(
      "127.0.0.1", 0, [](Request request, Exchange exchange) { exchange.send({.body = "<" + request.host + ">"}); },
      plain_error);
  ASSERT_TRUE(server) << server.error().message;
  WireClient client(server->port());
  client.send("GET / HTTP/1.1\r\nHost: a:1\r\n\r\nGET http://b:2/ HTTP/1.1\r\nHost: a:1\r\n\r\nGET / HTTP/1.0\r\n\r\n");
  EXPECT_THAT(client.answer(), EndsWith("<a:1>"));
  EXPECT_THAT(client.answer(), EndsWith("<b:2>"));
  EXPECT_THAT(client.answer(), EndsWith("<>"));
}

}  // namespace
}  // namespace slipstream::http
