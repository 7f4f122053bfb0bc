// Every mistake of a client is answered in the shape of its API, with the status that its library
// acts upon and the field at fault, and leaves the router as it was. data/bad_requests.jsonl lists
// the mistakes (data/README.md).
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/e2e/support/cluster.h"
#include "tests/e2e/support/memory.h"
#include "tests/unit/common/http/wire_client.h"

namespace slipstream::e2e {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// A sanitizer keeps freed memory.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr double kGrowthMaxMiB = 2048;
#else
constexpr double kGrowthMaxMiB = 12;  // of one pass over the table, which has bodies of 4 MiB
#endif

constexpr const char* kClientKey = "secret-of-a-client";

const std::map<std::string, std::string> kGoodFields{
    {"/v1/chat/completions", R"("messages": [{"role": "user", "content": "hello"}])"},
    {"/v1/completions", R"("prompt": "hello")"},
    {"/v1/responses", R"("input": "hello")"},
    {"/v1/messages", R"("max_tokens": 4, "messages": [{"role": "user", "content": "hello"}])"},
    {"/api/chat", R"("model": "tiny-llama", "messages": [{"role": "user", "content": "hello"}])"},
    {"/api/generate", R"("model": "tiny-llama", "prompt": "hello")"}};

std::string unhex(const std::string& digits) {
  std::string bytes;
  for (size_t at = 0; at < digits.size(); at += 2) bytes += static_cast<char>(std::stoi(digits.substr(at, 2), nullptr, 16));
  return bytes;
}

std::string bytes_of(const json& part) {
  if (part.is_string()) return part;
  std::string bytes;
  if (part.is_array()) {
    for (const json& one : part) bytes += bytes_of(one);
    return bytes;
  }
  const std::string once = part.contains("hex") ? unhex(part["hex"]) : bytes_of(part["of"]);
  for (size_t times = part.value("times", 1U); times > 0; --times) bytes += once;
  return bytes;
}

std::string request_of(const json& mistake) {
  if (mistake.contains("raw")) return bytes_of(mistake["raw"]);
  const std::string to = mistake.value("to", "/v1/chat/completions");
  const size_t space = to.find(' ');
  const std::string method = space == to.npos ? "POST" : to.substr(0, space);
  const std::string path = space == to.npos ? to : to.substr(space + 1);
  std::string body = mistake.contains("body") ? bytes_of(mistake["body"]) : "";
  if (mistake.contains("with")) body = fmt::format("{{{}, {}}}", kGoodFields.at(path), bytes_of(mistake["with"]));
  json headers{{"Host", "localhost"}};
  if (mistake.contains("body") || mistake.contains("with")) {
    headers["Content-Type"] = "application/json";
    headers["Content-Length"] = std::to_string(body.size());
  }
  headers.merge_patch(mistake.value("headers", json::object()));  // null takes one away
  std::string text = fmt::format("{} {} HTTP/1.1\r\n", method, path);
  for (const auto& [name, value] : headers.items()) text += fmt::format("{}: {}\r\n", name, value.get<std::string>());
  return text + "\r\n" + body;
}

std::string text_of(const json& error, const char* name) {
  return error.contains(name) && error[name].is_string() ? error[name].get<std::string>() : "";
}

void expect_answer(const std::string& answer, const json& mistake) {
  ASSERT_THAT(answer, HasSubstr("\r\n\r\n")) << "no answer";
  const std::string body = answer.substr(answer.find("\r\n\r\n") + 4);
  EXPECT_EQ(answer.substr(0, 12), fmt::format("HTTP/1.1 {}", mistake["status"].get<int>())) << body;
  const json error = json::parse(body, nullptr, false).value("error", json());
  const std::string message = error.is_string() ? error.get<std::string>() : text_of(error, "message");
  EXPECT_FALSE(message.empty()) << body;
  EXPECT_THAT(message, HasSubstr(mistake["says"].get<std::string>()));
  EXPECT_EQ(text_of(error, "code"), mistake.value("code", "")) << body;
  EXPECT_EQ(text_of(error, "param"), mistake.value("param", "")) << body;
  EXPECT_TRUE(!mistake.contains("type") || text_of(error, "type") == mistake["type"]) << body;
}

std::vector<json> mistakes() {
  std::ifstream file(std::filesystem::path(SLIPSTREAM_SOURCE_FOLDER) / "tests/e2e/data/bad_requests.jsonl");
  std::vector<json> all;
  for (std::string line; std::getline(file, line);) all.push_back(json::parse(line));
  return all;
}

// The routers that the table names, before one verifier.
class BadInput : public testing::Test {
 protected:
  BadInput() : cluster_(tiny_model()) {
    // A template that has a place for tools, and whose variables can make it fail.
    const auto folder = cluster_.folder() / "hostile" / tiny_model().filename();
    std::filesystem::create_directories(folder);
    std::filesystem::copy(tiny_model(), folder, std::filesystem::copy_options::recursive);
    std::filesystem::copy_file(std::filesystem::path(SLIPSTREAM_SOURCE_FOLDER) / "tests/e2e/data/hostile_template.jinja",
                               folder / "chat_template.jinja", std::filesystem::copy_options::overwrite_existing);
    const auto keys = cluster_.folder() / "api-keys";
    std::ofstream(keys) << "client " << kClientKey << "\n";
    cluster_.start_router({"--ollama"}, "router");
    cluster_.start_router({"--model", folder.string()}, "router-tools");
    cluster_.start_router({"--strict"}, "router-strict");
    cluster_.start_router({"--api-key-file", keys.string()}, "router-keys");
    cluster_.start_verifier();
    for (const std::string& router : routers_) cluster_.wait(router, [&] { return status_of_a_good_request(router) == "200"; });
  }

  void make_every_mistake() {
    for (const json& mistake : mistakes()) {
      SCOPED_TRACE(mistake["name"].get<std::string>());
      const std::string router = mistake.contains("router") ? "router-" + mistake["router"].get<std::string>() : "router";
      WireClient client(cluster_.http_port(router));
      client.send(request_of(mistake));  // the server may answer and close before it has all
      expect_answer(client.answer(), mistake);
    }
  }
  std::string status_of_a_good_request(const std::string& router) {
    WireClient client(cluster_.http_port(router));
    const json good{{"with", R"("max_tokens": 4)"}, {"headers", {{"Authorization", fmt::format("Bearer {}", kClientKey)}}}};
    client.send(request_of(good));
    return client.answer().substr(9, 3);
  }
  double memory() { return memory_of(cluster_.process("router").pid()).now; }

  const std::vector<std::string> routers_{"router", "router-tools", "router-strict", "router-keys"};
  Cluster cluster_;
};

TEST_F(BadInput, IsAnsweredWithTheFieldAtFaultAndLeavesTheRouterAsItWas) {
  ASSERT_GE(mistakes().size(), 200U);
  make_every_mistake();
  for (const std::string& router : routers_) EXPECT_EQ(status_of_a_good_request(router), "200");
  const double before = memory();
  make_every_mistake();
  EXPECT_LT(memory() - before, kGrowthMaxMiB);
}

// A client that leaves within its request, wherever it stops.
TEST_F(BadInput, ThatIsHalfARequestLeavesNothing) {
  const std::string whole = request_of({{"with", R"("max_tokens": 4)"}});
  for (size_t bytes = 0; bytes < whole.size(); bytes += 3) {
    WireClient client(cluster_.http_port());
    client.send(whole.substr(0, bytes));
    if (bytes % 2 == 0) client.finish_sending();
    bytes % 2 == 0 ? (void)client.all() : client.reset();
  }
  cluster_.wait("all connections to end", [&] {
    const Samples page = cluster_.metrics("router");
    return page.sum(metric::kHttpConnections.name) <= 1;  // that of this question
  });
  EXPECT_EQ(status_of_a_good_request("router"), "200");
}

TEST(BadInputWithoutAVerifier, IsToldApartFromATimeTooEarly) {
  Cluster cluster(tiny_model());
  cluster.start_router();
  http::Client client = cluster.client();
  const auto ready = client.get("/ready");
  ASSERT_TRUE(ready);
  expect_answer(fmt::format("HTTP/1.1 {}\r\n\r\n{}", ready->status, ready->body),
                {{"status", 503}, {"code", "no_verifier"}, {"says", "No verifier is connected yet"}});
}

}  // namespace
}  // namespace slipstream::e2e
