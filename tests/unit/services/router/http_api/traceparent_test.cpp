// The trace of a request (W3C Trace Context) that its client names in the header `traceparent`.
#include "services/router/http_api/http_api.h"

#include "tests/unit/common/http/wire_client.h"
#include "tests/unit/services/router/http_api/front.h"

namespace slipstream {
namespace {

using testing::StartsWith;

// A front that traces no request but those whose client does.
class TracesOfAClient : public HttpApiTest {
 protected:
  static ServedModel traced(std::optional<double> share) {
    ServedModel served = model();
    served.trace_share = share;
    return served;
  }
  explicit TracesOfAClient(std::optional<double> share = 0) : HttpApiTest(traced(share)) {}

  TraceContext trace_with(std::string_view header) {  // that the router is told
    WireClient wire(server.port());
    const std::string body = ask();
    wire.send(fmt::format("{}{}Content-Length: {}\r\n\r\n{}", kPostHead, header, body.size(), body));
    const auto submit = inbox.take<Submit>();
    deliver(submit.request, "x<|im_end|>", Finish::stop);
    EXPECT_THAT(wire.answer(), StartsWith("HTTP/1.1 200"));
    return submit.spec.trace;
  }
};

constexpr std::string_view kIds = "4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7";  // the specification's example

TEST_F(TracesOfAClient, GoOnIfItRecordsThem) {
  const TraceContext trace{.high = 0x4bf92f3577b34da6, .low = 0xa3ce929d0e0e4736, .parent = 0x00f067aa0ba902b7};
  EXPECT_EQ(trace_with(fmt::format("traceparent: 00-{}-01\r\n", kIds)), trace);
  EXPECT_EQ(trace_with(fmt::format("Traceparent: 00-{}-01\r\n", kIds)), trace);
  for (const std::string& header : {std::string(), fmt::format("traceparent: 00-{}-00\r\n", kIds),
                                    fmt::format("traceparent: {}\r\n", kIds), std::string("traceparent: \r\n")}) {
    EXPECT_FALSE(trace_with(header).traced()) << header;
  }
}

struct EveryRequestIsTraced : TracesOfAClient {
  EveryRequestIsTraced() : TracesOfAClient(1) {}
};

TEST_F(EveryRequestIsTraced, ButOneWhoseClientDoesNotRecordIt) {
  EXPECT_TRUE(trace_with("").traced());
  EXPECT_TRUE(trace_with("traceparent: nonsense\r\n").traced());
  EXPECT_NE(trace_with(""), trace_with(""));
  EXPECT_FALSE(trace_with(fmt::format("traceparent: 00-{}-00\r\n", kIds)).traced());
}

struct NoRequestIsTraced : TracesOfAClient {
  NoRequestIsTraced() : TracesOfAClient(std::nullopt) {}
};

TEST_F(NoRequestIsTraced, NotEvenOneWhoseClientRecordsIt) {
  EXPECT_FALSE(trace_with(fmt::format("traceparent: 00-{}-01\r\n", kIds)).traced());
}

}  // namespace
}  // namespace slipstream
