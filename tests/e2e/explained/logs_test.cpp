// The logs of all three processes as JSON: every line can be read, and one name finds a request in
// all of them.
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/e2e/support/cluster.h"

namespace slipstream::e2e {
namespace {

using Json = nlohmann::json;

constexpr std::array<const char*, 3> kServices{"router", "verifier", "drafter"};

class Logs : public testing::Test {
 protected:
  Logs() : cluster_(tiny_model()) {
    cluster_.start_router(flags());
    cluster_.start_verifier(flags());
    cluster_.start_drafter(flags({"--method", "ngram"}));
    cluster_.wait_ready();
    cluster_.wait_drafter();
  }

  static Cluster::Flags flags(Cluster::Flags more = {}) {
    more.insert(more.end(), {"--log-format", "json", "--log-level", "debug"});
    return more;
  }
  // The whole lines of a log so far.
  std::vector<Json> lines(const std::string& service) const {
    std::vector<Json> lines;
    const std::string log = cluster_.log(service);
    std::istringstream whole(log.substr(0, log.rfind('\n') + 1));
    for (std::string line; std::getline(whole, line);) {
      lines.push_back(Json::parse(line, nullptr, false));
      EXPECT_TRUE(lines.back().is_object()) << service << ": " << line;
    }
    return lines;
  }
  std::vector<Json> about(const std::string& service, const std::string& sequence) const {
    std::vector<Json> found = lines(service);
    std::erase_if(found, [&](const Json& line) { return line.value("sequence", "") != sequence; });
    return found;
  }

  Cluster cluster_;
};

TEST_F(Logs, EveryLineIsJsonWithItsTimeLevelServiceAndMessage) {
  http::Client client = cluster_.client();
  client.get("/\"\xFF\xE2\x80\xA8%0A");
  client.post("/v1/chat/completions", "{\"messages\": \"\xFF\n\"");
  cluster_.ask({.text = "a b a b", .tokens_max = 20});
  cluster_.kill("drafter", SIGTERM);
  for (const std::string service : kServices) {
    ASSERT_FALSE(lines(service).empty()) << service;
    for (const Json& line : lines(service)) {
      EXPECT_EQ(line["service"], service) << line;
      EXPECT_TRUE(line["level"].is_string() && line["message"].is_string()) << line;
      EXPECT_EQ(line["time"].get<std::string>().back(), 'Z') << line;
    }
  }
}

TEST_F(Logs, OneNameFindsARequestInAllProcesses) {
  // A verifier looks for its drafter when a first request comes, and may end that one alone.
  cluster_.ask({.text = "a b a b", .tokens_max = 20});
  cluster_.wait("the verifier to know its drafter",
                [&] { return cluster_.log("verifier").find(" drafts\"") != std::string::npos; });
  const auto reply = cluster_.client().post("/v1/chat/completions",
                                            R"({"messages": [{"role": "user", "content": "a b a b"}], "max_tokens": 20})");
  ASSERT_TRUE(reply) << reply.error().message;
  const std::string id = Json::parse(reply->body)["id"], sequence = id.substr(id.find('-') + 1);
  for (const char* service : kServices) {
    cluster_.wait(std::string(service) + " to log the end", [&] { return about(service, sequence).size() >= 2; });
  }
  EXPECT_NE(about("verifier", sequence).front()["message"].get<std::string>().find("begins"), std::string::npos);
  EXPECT_NE(about("drafter", sequence).front()["message"].get<std::string>().find("begins"), std::string::npos);
  const Json access = about("router", sequence).back();
  EXPECT_EQ(access["level"], "info");
  EXPECT_EQ(access["path"], "/v1/chat/completions");
  EXPECT_EQ(access["status"], 200);
  EXPECT_EQ(access["method"], "POST");
  EXPECT_EQ(access["client"], "127.0.0.1");
  EXPECT_FALSE(access["request_id"].get<std::string>().empty());
  EXPECT_GT(access["bytes"], 0);
}

TEST_F(Logs, TellNoWordOfAPromptOrAnAnswer) {
  const Answer answer = cluster_.ask({.text = "a b a b secretword", .tokens_max = 20});
  ASSERT_GT(answer.text.size(), 8U);
  for (const char* service : kServices) {
    EXPECT_EQ(cluster_.log(service).find("secretword"), std::string::npos) << service;
    EXPECT_EQ(cluster_.log(service).find(answer.text), std::string::npos) << service;
  }
}

}  // namespace
}  // namespace slipstream::e2e
