// Processes with keys: an enrolled one works in the cluster, and every other one is told why it
// does not.
#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/e2e/support/load.h"

namespace slipstream::e2e {
namespace {

using testing::HasSubstr;

constexpr int kTokens = 100;

double failed_handshakes(const Cluster& cluster, const std::string& service) {
  return cluster.metrics(service).sum(metric::kNodeHandshakesFailed.name);
}

std::string text_of(Cluster& cluster, const Question& question) {
  std::string text;
  cluster.ask(question, [&](const Piece& piece) { text += piece.text; });
  return text;
}

// The process ends by itself, with a sentence in its log.
void expect_refusal(Cluster& cluster, const std::string& service, const std::string& words) {
  cluster.wait(service + "'s end", [&] { return cluster.process(service).ended().has_value(); });
  EXPECT_THAT(cluster.log(service), HasSubstr(words));
}

TEST(Keys, ChangeNoWord) {
  const std::vector<Question> questions = eight_questions(kTokens);
  std::vector<std::string> plain;
  {
    Cluster cluster(tiny_model());
    cluster.start_all("ngram");
    for (const Question& question : questions) plain.push_back(text_of(cluster, question));
  }
  Cluster cluster(tiny_model());
  cluster.make_keys({});
  cluster.start_all("ngram");
  for (size_t i = 0; i < questions.size(); ++i) EXPECT_EQ(text_of(cluster, questions[i]), plain[i]);
  EXPECT_GT(cluster.settled_verifier().sum(metric::kVerifierNodesReceived.name), 0) << "the drafter drafts";
  for (const char* service : {"router", "verifier", "drafter"}) EXPECT_EQ(failed_handshakes(cluster, service), 0) << service;
}

TEST(Keys, AStrangerIsToldInASentenceAndSoIsTheOperator) {
  Cluster cluster(tiny_model());
  cluster.make_keys({});
  cluster.start_all("none");
  // A worker of another cluster. It knows our router's public key, and our cluster does not know
  // its own.
  Cluster other(tiny_model());
  other.make_keys({"drafter"});
  std::filesystem::copy_file(cluster.keys() / "peers/router.pub", other.keys() / "peers/router.pub");
  cluster.start_drafter({"--key", (other.keys() / "drafter.key").string(), "--peers", (other.keys() / "peers").string()},
                        "stranger");
  cluster.wait("both sentences", [&] {
    return cluster.log("router").find("its key is not enrolled") != std::string::npos &&
           cluster.log("stranger").find("refuses this process's key (drafter)") != std::string::npos;
  });
  cluster.wait("the count", [&] { return failed_handshakes(cluster, "router") > 0; });
  text_of(cluster, eight_questions(kTokens).front());
}

TEST(Keys, ThatDoNotMatchAreToldOnBothSidesWithAddressesAndAdviceAndTriedAtGrowingGaps) {
  constexpr double kTries = 9;  // 20 ms + 40 ms + ... + 1.28 s, then 2 s
  Cluster cluster(tiny_model());
  cluster.make_keys({});
  cluster.start_router();
  const std::string address = "tcp://127.0.0.1:" + std::to_string(cluster.bind_port("router"));
  Cluster other(tiny_model());  // it has keys of its own, for its router too
  other.make_keys({});
  const auto began = std::chrono::steady_clock::now();
  cluster.start_drafter({"--key", (other.keys() / "drafter.key").string(), "--peers", (other.keys() / "peers").string()},
                        "stranger");
  const std::string theirs = (other.keys() / "peers/router.pub").string();
  cluster.wait("both sentences", [&] {
    return cluster.log("stranger")
                   .find("the keys do not match: " + address +
                         " does not have the key router as it is enrolled "
                         "here (" +
                         theirs + ")") != std::string::npos &&
           cluster.log("router").find("the keys do not match: 127.0.0.1:") != std::string::npos;
  });
  for (const char* service : {"stranger", "router"})
    EXPECT_THAT(cluster.log(service), HasSubstr("docs/use/KEYS.md")) << service;
  cluster.wait_ports("stranger");
  cluster.wait("the tries", [&] { return failed_handshakes(cluster, "stranger") >= kTries; });
  EXPECT_GE(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(20 + 40 + 80 + 160 + 320 + 640 + 1280 + 2000));
}

TEST(Keys, AreNotBlamedForARouterThatHangs) {
  Cluster cluster(tiny_model());
  cluster.make_keys({});
  cluster.start_router();
  cluster.wait_ports("router");
  cluster.process("router").signal(SIGSTOP);
  cluster.start_drafter();
  cluster.wait("the sentence", [&] { return cluster.log("drafter").find("it hangs") != std::string::npos; });
  EXPECT_EQ(cluster.log("drafter").find("the keys do not match"), std::string::npos);
  cluster.process("router").signal(SIGCONT);
  cluster.wait("the drafter", [&] { return cluster.log("router").find("joined") != std::string::npos; });
}

TEST(Keys, WhoIsRevokedUnderLoadIsCutAndTheWordsStay) {
  Cluster cluster(tiny_model());
  cluster.make_keys({"router", "verifier", "drafter", "drafter-2"});
  cluster.start_router();
  cluster.start_verifier({"--threads", "1"});
  for (const char* name : {"drafter", "drafter-2"}) cluster.start_drafter({}, name);
  for (const char* name : {"verifier", "drafter", "drafter-2"}) cluster.wait_ports(name);
  const auto drafters = [&](const char* count) {
    const auto reply = cluster.client().get("/ready");
    return reply && reply->status == 200 && reply->body.find(std::string(R"("drafters":)") + count) != std::string::npos;
  };
  cluster.wait("two drafters", [&] { return drafters("2"); });
  Load load(cluster, eight_questions(kTokens));
  std::filesystem::remove(cluster.keys() / "peers/drafter.pub");
  cluster.wait("one drafter", [&] { return drafters("1"); });
  const int before = load.answers();
  cluster.wait("answers", [&] { return load.answers() >= before + 16; });
  const LoadReport report = load.report();
  EXPECT_TRUE(report.wrong.empty());
  EXPECT_EQ(report.cut, 0);
  EXPECT_EQ(cluster.metrics("router").sum(metric::kNodeConnectionsCut.name, {R"(why="revoked")"}), 1);
}

TEST(Keys, ThatAreTheWrongOnesEndAProcessWithASentence) {
  Cluster cluster(tiny_model());
  cluster.make_keys({});
  cluster.start_router();
  const std::string peers = (cluster.keys() / "peers").string();
  cluster.start_verifier({"--key", (cluster.keys() / "drafter.key").string(), "--peers", peers});
  expect_refusal(cluster, "verifier", "is the key of drafter, and this process is a verifier");
  std::filesystem::permissions(cluster.keys() / "drafter.key", std::filesystem::perms::group_read,
                               std::filesystem::perm_options::add);
  cluster.start_drafter();
  expect_refusal(cluster, "drafter", "chmod 600");
}

TEST(Keys, AreAskedForWhereAnotherMachineCouldConnect) {
  Cluster cluster(tiny_model());
  cluster.start_drafter({"--router", "tcp://127.0.0.1:7300", "--bind", "tcp://10.0.0.7:7301"});
  expect_refusal(cluster, "drafter", "slipstream keys new");
}

TEST(Ports, InUseEndAProcessWithASentence) {
  Cluster cluster(tiny_model());
  cluster.start_router();
  const std::string bind = "tcp://127.0.0.1:" + std::to_string(cluster.bind_port("router"));
  cluster.start_drafter({"--bind", bind});
  expect_refusal(cluster, "drafter", "is in use by another process: stop it, or choose another port");
}

}  // namespace
}  // namespace slipstream::e2e
