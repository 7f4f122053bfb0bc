#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/config/drafter_config.h"
#include "common/config/router_config.h"
#include "common/config/verifier_config.h"
#include "tests/unit/common/config/surroundings.h"

namespace slipstream {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

// Runs a parser with the words of a command line; the model folder is always there unless the test names one.
class ACommandLine : public testing::Test {
 protected:
  template <class Options>
  Parsed<Options> parse(Parsed<Options> (*parser)(int, const char* const*), std::vector<std::string> words) {
    if (std::ranges::find(words, "--model") == words.end()) words.insert(words.end(), {"--model", folder_.path().string()});
    words.insert(words.begin(), "service");
    std::vector<const char*> argv;
    for (const std::string& word : words) argv.push_back(word.c_str());
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    auto parsed = parser(static_cast<int>(argv.size()), argv.data());
    out_ = testing::internal::GetCapturedStdout();
    err_ = testing::internal::GetCapturedStderr();
    return parsed;
  }
  RouterOptions router(std::vector<std::string> words) {
    const auto parsed = parse(parse_router_options, std::move(words));
    EXPECT_TRUE(std::holds_alternative<RouterOptions>(parsed)) << err_;
    return std::holds_alternative<RouterOptions>(parsed) ? std::get<RouterOptions>(parsed) : RouterOptions{};
  }
  int exit_code(std::vector<std::string> words) {
    const auto parsed = parse(parse_router_options, std::move(words));
    return std::holds_alternative<ExitCode>(parsed) ? std::get<ExitCode>(parsed).value : -1;
  }

  ScopedFolder folder_;
  std::string out_;
  std::string err_;
};

TEST_F(ACommandLine, GivesTheDefaultsWhenNothingIsSaid) {
  const RouterOptions options = router({});
  EXPECT_EQ(options.http, "127.0.0.1:8080");
  EXPECT_EQ(options.bind, "tcp://127.0.0.1:7300");
  EXPECT_EQ(options.deadline_us, 3000u);
  EXPECT_EQ(options.log_level, "info");
}

TEST_F(ACommandLine, TakesAFlag) {
  EXPECT_EQ(router({"--deadline-us", "1500"}).deadline_us, 1500u);
  EXPECT_EQ(router({"--deadline-us=1600"}).deadline_us, 1600u);
}

TEST_F(ACommandLine, TakesTheEnvironment) {
  const ScopedVariable variable("SLIPSTREAM_DEADLINE_US", "1700");
  EXPECT_EQ(router({}).deadline_us, 1700u);
}

TEST_F(ACommandLine, TakesAFile) {
  const std::string file = folder_.write("router.toml", "# ours\ndeadline-us = 1800\nmodel-name = \"tiny chat\"\n");
  const RouterOptions options = router({"--config", file});
  EXPECT_EQ(options.deadline_us, 1800u);
  EXPECT_EQ(options.model_name, "tiny chat");
}

TEST_F(ACommandLine, PutsFlagsAboveTheEnvironmentAboveTheFile) {
  const std::string file = folder_.write("router.toml", "deadline-us = 1\nnodes-max = 2\nlease-ms = 1003\n");
  const ScopedVariable deadline("SLIPSTREAM_DEADLINE_US", "10");
  const ScopedVariable nodes("SLIPSTREAM_NODES_MAX", "20");
  const RouterOptions options = router({"--config", file, "--deadline-us", "100"});
  EXPECT_EQ(options.deadline_us, 100u);
  EXPECT_EQ(options.nodes_max, 20u);
  EXPECT_EQ(options.lease_ms, 1003u);
}

TEST_F(ACommandLine, FindsTheFileByTheEnvironmentToo) {
  const ScopedVariable variable("SLIPSTREAM_CONFIG", folder_.write("router.toml", "nodes-max = 5\n"));
  EXPECT_EQ(router({}).nodes_max, 5u);
}

TEST_F(ACommandLine, TakesAnEmptyVariableForUnset) {
  const ScopedVariable variable("SLIPSTREAM_DEADLINE_US", "");
  EXPECT_EQ(router({}).deadline_us, 3000u);
}

TEST_F(ACommandLine, RepeatsAFlagThatNamesSeveral) {
  const auto parsed = parse(parse_drafter_options, {"--router", "tcp://127.0.0.1:1", "--router", "tcp://127.0.0.1:2"});
  ASSERT_TRUE(std::holds_alternative<DrafterOptions>(parsed)) << err_;
  EXPECT_THAT(std::get<DrafterOptions>(parsed).router, ElementsAre("tcp://127.0.0.1:1", "tcp://127.0.0.1:2"));
}

TEST_F(ACommandLine, SplitsAVariableThatNamesSeveralAtCommas) {
  const ScopedVariable variable("SLIPSTREAM_ROUTER", "tcp://127.0.0.1:1,tcp://127.0.0.1:2");
  const auto parsed = parse(parse_verifier_options, {});
  ASSERT_TRUE(std::holds_alternative<VerifierOptions>(parsed)) << err_;
  EXPECT_THAT(std::get<VerifierOptions>(parsed).router, ElementsAre("tcp://127.0.0.1:1", "tcp://127.0.0.1:2"));
}

TEST_F(ACommandLine, TakesAListFromTheFile) {
  const std::string file =
      folder_.write("verifier.toml", "router = [\"tcp://127.0.0.1:1\", \"tcp://127.0.0.1:2\"]\nthreads = 2\n");
  const auto parsed = parse(parse_verifier_options, {"--config", file});
  ASSERT_TRUE(std::holds_alternative<VerifierOptions>(parsed)) << err_;
  EXPECT_THAT(std::get<VerifierOptions>(parsed).router, ElementsAre("tcp://127.0.0.1:1", "tcp://127.0.0.1:2"));
  EXPECT_EQ(std::get<VerifierOptions>(parsed).threads, 2u);
}

TEST_F(ACommandLine, ShowsEveryDefaultInItsHelp) {
  EXPECT_EQ(exit_code({"--help"}), 0);
  EXPECT_THAT(out_, AllOf(HasSubstr("--deadline-us"), HasSubstr("3000"), HasSubstr("127.0.0.1:8080"), HasSubstr("10000"),
                          HasSubstr("tcp://127.0.0.1:7300"), HasSubstr("SLIPSTREAM_DEADLINE_US"), HasSubstr("--check-config")));
  parse(parse_verifier_options, {"--help"});
  EXPECT_THAT(out_, AllOf(HasSubstr("16384"), HasSubstr("auto"), HasSubstr("127.0.0.1:0"), HasSubstr("the CPU quota, here ")));
  parse(parse_drafter_options, {"--help"});
  EXPECT_THAT(out_,
              AllOf(HasSubstr("ngram"), HasSubstr("tcp://127.0.0.1:0"), HasSubstr("--router TEXT=tcp://127.0.0.1:7300 ")));
}

TEST_F(ACommandLine, SaysItsVersion) {
  EXPECT_EQ(exit_code({"--version"}), 0);
  EXPECT_THAT(out_, StartsWith("slipstream-router 0."));
}

TEST_F(ACommandLine, RefusesAnUnknownFlagWithTheNextStep) {
  EXPECT_EQ(exit_code({"--deadline", "3"}), kExitUsage);
  EXPECT_THAT(err_, AllOf(HasSubstr("--deadline"), HasSubstr("--help")));
}

TEST_F(ACommandLine, RefusesAStrayWord) {
  EXPECT_EQ(exit_code({"8080"}), kExitUsage);
  EXPECT_THAT(err_, HasSubstr("8080"));
}

TEST_F(ACommandLine, RefusesWhatIsNoNumber) {
  for (const char* value : {"soon", "-1", "1.5", "99999999999999999999"}) {
    EXPECT_EQ(exit_code({std::string("--deadline-us=") + value}), kExitUsage) << value;
    EXPECT_THAT(err_, AllOf(HasSubstr("--deadline-us"), HasSubstr(value)));
  }
}

TEST_F(ACommandLine, NamesTheVariableThatIsNoNumber) {
  const ScopedVariable variable("SLIPSTREAM_DEADLINE_US", "soon");
  EXPECT_EQ(exit_code({}), kExitUsage);
  EXPECT_THAT(err_, AllOf(HasSubstr("SLIPSTREAM_DEADLINE_US"), HasSubstr("soon")));
}

TEST_F(ACommandLine, NamesTheFileAndTheSettingItDoesNotKnow) {
  const std::string file = folder_.write("router.toml", "deadline = 3\n");
  EXPECT_EQ(exit_code({"--config", file}), kExitUsage);
  EXPECT_THAT(err_, AllOf(HasSubstr(file), HasSubstr("\"deadline\"")));
}

TEST_F(ACommandLine, RefusesAFileThatIsNotThere) {
  EXPECT_EQ(exit_code({"--config", "/nowhere/router.toml"}), kExitUsage);
  EXPECT_THAT(err_, HasSubstr("/nowhere/router.toml"));
}

TEST_F(ACommandLine, RefusesABindBeyondLoopback) {
  EXPECT_EQ(exit_code({"--http", "0.0.0.0:8080"}), kExitUsage);
  EXPECT_THAT(err_, AllOf(HasSubstr("--http 0.0.0.0:8080"), HasSubstr("HTTP in clear")));
}

TEST_F(ACommandLine, TellsEveryProblemAtOnce) {
  EXPECT_EQ(exit_code({"--http", "nowhere", "--log-level", "loud", "--nodes-max", "64"}), kExitUsage);
  EXPECT_THAT(err_, AllOf(HasSubstr("--http"), HasSubstr("\"loud\""), HasSubstr("--nodes-max 64")));
}

TEST_F(ACommandLine, ChecksTheConfigurationAndSaysWhereEachValueCameFrom) {
  const ScopedVariable variable("SLIPSTREAM_NODES_MAX", "4");
  const std::string file = folder_.write("router.toml", "lease-ms = 2000\n");
  EXPECT_EQ(exit_code({"--check-config", "--config", file, "--deadline-us", "9"}), 0);
  EXPECT_THAT(out_, testing::ContainsRegex("deadline-us +9 +flag\n"));
  EXPECT_THAT(out_, testing::ContainsRegex("nodes-max +4 +SLIPSTREAM_NODES_MAX\n"));
  EXPECT_THAT(out_, testing::ContainsRegex("lease-ms +2000 +.*router.toml\n"));
  EXPECT_THAT(out_, testing::ContainsRegex("http +127.0.0.1:8080 +default\n"));
}

TEST_F(ACommandLine, ChecksABadConfigurationWithExitCodeTwo) {
  EXPECT_EQ(exit_code({"--check-config", "--log-level", "loud"}), kExitUsage);
  EXPECT_THAT(out_, HasSubstr("log-level"));
  EXPECT_THAT(err_, HasSubstr("loud"));
}

}  // namespace
}  // namespace slipstream
