// With --otlp a collector gets what the three processes did for a request as one trace.
#include <map>
#include <mutex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "common/http/server.h"
#include "tests/e2e/support/load.h"

namespace slipstream::e2e {
namespace {

using Json = nlohmann::json;

class Collector {
 public:
  std::string url() const { return "http://127.0.0.1:" + std::to_string(server_.port()); }
  // [traces] {service: its span}
  std::map<std::string, std::map<std::string, Json>> traces() {
    const std::lock_guard lock(mutex_);
    return traces_;
  }

 private:
  void take(const std::string& body) {
    const Json sent = Json::parse(body).at("resourceSpans").at(0);
    const std::string service = sent.at("resource").at("attributes").at(0).at("value").at("stringValue");
    const std::lock_guard lock(mutex_);
    for (const Json& span : sent.at("scopeSpans").at(0).at("spans")) traces_[span.at("traceId")][service] = span;
  }

  std::mutex mutex_;
  std::map<std::string, std::map<std::string, Json>> traces_;
  http::Server server_ = http::Server::listen(
                             "127.0.0.1", 0,
                             [this](http::Request request, http::Exchange exchange) {
                               take(request.body);
                               exchange.send({.body = "{}"});
                             },
                             [](int, std::string_view, std::string_view) { return http::Response{}; })
                             .value();
};

TEST(Traces, TellWhatTheThreeProcessesDidForARequest) {
  Collector collector;
  Cluster cluster(tiny_model());
  const Cluster::Flags traced{"--otlp", collector.url()};
  cluster.start_router(traced);
  Cluster::Flags verifier = verify_every_draft(traced);
  verifier.insert(verifier.end(), {"--resident", "none"});
  cluster.start_verifier(verifier);
  cluster.start_drafter(traced);
  cluster.wait_ready();
  cluster.wait_drafter();
  // A drafter that is asked for the first time has to attach first, and an answer may end before.
  std::map<std::string, Json> spans;
  cluster.wait("a trace of all three", [&] {
    cluster.ask(eight_questions(40).front());
    for (const auto& [id, trace] : collector.traces()) {
      if (trace.size() == 3) spans = trace;
    }
    return !spans.empty();
  });
  const Json &request = spans["slipstream-router"], &verify = spans["slipstream-verifier"],
             &draft = spans["slipstream-drafter"];
  EXPECT_EQ(request.at("name"), "request");
  EXPECT_EQ(verify.at("name"), "verify");
  EXPECT_EQ(draft.at("name"), "draft");
  EXPECT_EQ(verify.at("traceId"), request.at("traceId"));
  EXPECT_EQ(draft.at("traceId"), request.at("traceId"));
  EXPECT_FALSE(request.contains("parentSpanId"));
  EXPECT_EQ(verify.at("parentSpanId"), request.at("spanId"));
  EXPECT_EQ(draft.at("parentSpanId"), verify.at("spanId"));
  EXPECT_LE(request.at("startTimeUnixNano").get<std::string>(), verify.at("startTimeUnixNano").get<std::string>());
}

TEST(Traces, AreNotSentOfARequestWithoutAShareOfThem) {
  Collector collector;
  Cluster cluster(tiny_model());
  cluster.start_router({"--otlp", collector.url(), "--trace-share", "0"});
  cluster.start_verifier({"--otlp", collector.url()});
  cluster.wait_ready();
  cluster.ask(eight_questions(10).front());
  for (const char* service : {"verifier", "router"}) cluster.kill(service, SIGTERM);  // it would send what waits
  EXPECT_TRUE(collector.traces().empty());
}

}  // namespace
}  // namespace slipstream::e2e
