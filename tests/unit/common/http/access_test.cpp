// What the access log tells of a request, and the id that every answer carries.
#include "common/http/access.h"

#include "tests/unit/common/http/echo_server.h"

namespace slipstream::http {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class HttpAccess : public EchoServer {};

TEST(RequestIds, KeepAClientsIdIfItFitsIntoAHeader) {
  RequestIds ids(0xAB);
  EXPECT_EQ(ids.id_of("trace-17"), "trace-17");
  const std::string longest(kRequestIdBytesMax, 'x');
  EXPECT_EQ(ids.id_of(longest), longest);
  for (const std::string& bad :
       {std::string(), longest + "x", std::string("a b"), std::string("a\x7f"), std::string("\xC3\xA4")}) {
    EXPECT_THAT(ids.id_of(bad), StartsWith("req-00000000000000ab")) << bad;
  }
}

TEST(RequestIds, AreNeverMadeTwice) {
  RequestIds ids(1), others(2);
  EXPECT_NE(ids.id_of(""), ids.id_of(""));
  EXPECT_NE(ids.id_of(""), others.id_of(""));
}

TEST_F(HttpAccess, TellsWhoAskedForWhatAndWhatCameOfIt) {
  start();
  auto wire = client();
  wire.send("POST /v1/x?secret=1 HTTP/1.1\r\nHost: h\r\nX-Request-Id: mine\r\nContent-Length: 2\r\n\r\n{}");
  const std::string answer = wire.answer();
  EXPECT_THAT(answer, HasSubstr("\r\nX-Request-Id: mine\r\n"));
  const Access access = logged();
  EXPECT_EQ(access.request_id, "mine");
  EXPECT_EQ(access.client, "127.0.0.1");
  EXPECT_EQ(access.method, "POST");
  EXPECT_EQ(access.path, "/v1/x");
  EXPECT_EQ(access.status, 200);
  EXPECT_EQ(access.bytes, answer.size());
  EXPECT_EQ(access.end, Access::End::answered);
  EXPECT_THAT(words_of(access), Not(HasSubstr("secret")));
}

TEST_F(HttpAccess, HasTheHandlersNoteOfAStream) {
  start();
  auto wire = client();
  wire.send("GET /held HTTP/1.1\r\nHost: h\r\n\r\n");
  auto exchange = held();
  exchange.begin_stream("text/event-stream");
  exchange.write("data: x\n\n");
  exchange.annotate("first");
  exchange.annotate("17 tokens");
  exchange.end();
  exchange.annotate("too late");
  const Access access = logged();
  EXPECT_EQ(access.note, "17 tokens");
  EXPECT_EQ(access.bytes, wire.until("0\r\n\r\n").size());
}

TEST_F(HttpAccess, NamesItsSubjectAlsoWhereTheClientLeft) {
  start();
  auto wire = client();
  wire.send("GET /held HTTP/1.1\r\nHost: h\r\n\r\n");
  auto exchange = held();
  exchange.concerns("00ab1f");
  wire.reset();
  const Access access = logged();
  EXPECT_EQ(access.subject, "00ab1f");
  EXPECT_THAT(words_of(access), testing::EndsWith(", the client left: 00ab1f"));
}

TEST_F(HttpAccess, SaysThatAClientLeftBeforeItsAnswer) {
  start();
  auto wire = client();
  wire.send("GET /held HTTP/1.1\r\nHost: h\r\n\r\n");
  const auto exchange = held();
  wire.reset();
  const Access access = logged();
  EXPECT_EQ(access.end, Access::End::client_left);
  EXPECT_EQ(access.status, 0);
  EXPECT_EQ(access.path, "/held");
}

TEST_F(HttpAccess, SaysThatTheServerCutAnAnswer) {
  start();
  auto wire = client();
  wire.send("GET /held HTTP/1.1\r\nHost: h\r\n\r\n");
  auto exchange = held();
  exchange.begin_stream("text/event-stream");
  exchange.abort();
  EXPECT_EQ(logged().end, Access::End::cut);
}

TEST_F(HttpAccess, TellsEachRequestOfAConnectionOnceAndRefusalsToo) {
  start();
  auto wire = client();
  wire.send("GET /one HTTP/1.1\r\nHost: h\r\n\r\nGET /two HTTP/1.1\r\nHost: h\r\n\r\n");
  wire.answer();
  wire.answer();
  EXPECT_EQ(logged(2).path, "/two");
  wire.send("\x16\x03");
  const std::string refusal = wire.answer();
  const Access access = logged(3);
  EXPECT_EQ(access.status, 400);
  EXPECT_EQ(access.path, "-");
}

}  // namespace
}  // namespace slipstream::http
