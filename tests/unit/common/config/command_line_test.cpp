#include <algorithm>
#include <memory>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/config/command_line.h"
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

// Runs a parser with the words of a command line; the model folder is always there unless the test
// names one.
class CommandLineTest : public testing::Test {
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

TEST_F(CommandLineTest, GivesTheDefaultsWhenNothingIsSaid) {
  const RouterOptions options = router({});
  EXPECT_EQ(options.http, "127.0.0.1:8080");
  EXPECT_EQ(options.bind, "tcp://127.0.0.1:7300");
  EXPECT_EQ(options.deadline_us, 3000u);
  EXPECT_EQ(options.log_level, "info");
}

TEST_F(CommandLineTest, TakesAFlag) {
  EXPECT_EQ(router({"--deadline-us", "1500"}).deadline_us, 1500u);
  EXPECT_EQ(router({"--deadline-us=1600"}).deadline_us, 1600u);
}

TEST_F(CommandLineTest, TakesTheEnvironment) {
  const ScopedVariable variable("SLIPSTREAM_DEADLINE_US", "1700");
  EXPECT_EQ(router({}).deadline_us, 1700u);
}

TEST_F(CommandLineTest, TakesAFile) {
  const std::string file = folder_.write("router.toml", "# ours\ndeadline-us = 1800\nmodel-name = \"tiny chat\"\n");
  const RouterOptions options = router({"--config", file});
  EXPECT_EQ(options.deadline_us, 1800u);
  EXPECT_EQ(options.model_name, std::vector<std::string>{"tiny chat"});
}

TEST_F(CommandLineTest, PutsFlagsAboveTheEnvironmentAboveTheFile) {
  const std::string file = folder_.write("router.toml", "deadline-us = 1\nnodes-max = 2\nlease-ms = 1003\n");
  const ScopedVariable deadline("SLIPSTREAM_DEADLINE_US", "10");
  const ScopedVariable nodes("SLIPSTREAM_NODES_MAX", "20");
  const RouterOptions options = router({"--config", file, "--deadline-us", "100"});
  EXPECT_EQ(options.deadline_us, 100u);
  EXPECT_EQ(options.nodes_max, 20u);
  EXPECT_EQ(options.lease_ms, 1003u);
}

TEST_F(CommandLineTest, FindsTheFileByTheEnvironmentToo) {
  const ScopedVariable variable("SLIPSTREAM_CONFIG", folder_.write("router.toml", "nodes-max = 5\n"));
  EXPECT_EQ(router({}).nodes_max, 5u);
}

TEST_F(CommandLineTest, TakesAnEmptyVariableForUnset) {
  const ScopedVariable variable("SLIPSTREAM_DEADLINE_US", "");
  EXPECT_EQ(router({}).deadline_us, 3000u);
}

TEST_F(CommandLineTest, RepeatsAFlagThatNamesSeveral) {
  const auto parsed = parse(parse_drafter_options, {"--router", "tcp://127.0.0.1:1", "--router", "tcp://127.0.0.1:2"});
  ASSERT_TRUE(std::holds_alternative<DrafterOptions>(parsed)) << err_;
  EXPECT_THAT(std::get<DrafterOptions>(parsed).router, ElementsAre("tcp://127.0.0.1:1", "tcp://127.0.0.1:2"));
}

TEST_F(CommandLineTest, SplitsAVariableThatNamesSeveralAtCommas) {
  const ScopedVariable variable("SLIPSTREAM_ROUTER", "tcp://127.0.0.1:1,tcp://127.0.0.1:2");
  const auto parsed = parse(parse_verifier_options, {});
  ASSERT_TRUE(std::holds_alternative<VerifierOptions>(parsed)) << err_;
  EXPECT_THAT(std::get<VerifierOptions>(parsed).router, ElementsAre("tcp://127.0.0.1:1", "tcp://127.0.0.1:2"));
}

TEST_F(CommandLineTest, TakesAListFromTheFile) {
  const std::string file =
      folder_.write("verifier.toml", "router = [\"tcp://127.0.0.1:1\", \"tcp://127.0.0.1:2\"]\nthreads = 2\n");
  const auto parsed = parse(parse_verifier_options, {"--config", file});
  ASSERT_TRUE(std::holds_alternative<VerifierOptions>(parsed)) << err_;
  EXPECT_THAT(std::get<VerifierOptions>(parsed).router, ElementsAre("tcp://127.0.0.1:1", "tcp://127.0.0.1:2"));
  EXPECT_EQ(std::get<VerifierOptions>(parsed).threads, 2u);
}

TEST_F(CommandLineTest, ShowsEveryDefaultInItsHelp) {
  EXPECT_EQ(exit_code({"--help"}), 0);
  EXPECT_THAT(out_, AllOf(HasSubstr("--deadline-us"), HasSubstr("3000"), HasSubstr("127.0.0.1:8080"), HasSubstr("10000"),
                          HasSubstr("tcp://127.0.0.1:7300"), HasSubstr("SLIPSTREAM_DEADLINE_US"), HasSubstr("--check-config")));
  parse(parse_verifier_options, {"--help"});
  EXPECT_THAT(out_, AllOf(HasSubstr("16384"), HasSubstr("auto"), HasSubstr("127.0.0.1:0"), HasSubstr("the CPU quota, here ")));
  parse(parse_drafter_options, {"--help"});
  EXPECT_THAT(out_,
              AllOf(HasSubstr("ngram"), HasSubstr("tcp://127.0.0.1:0"), HasSubstr("--router TEXT=tcp://127.0.0.1:7300 ")));
}

TEST_F(CommandLineTest, SaysItsVersion) {
  EXPECT_EQ(exit_code({"--version"}), 0);
  EXPECT_THAT(out_, StartsWith("slipstream-router 0."));
}

TEST_F(CommandLineTest, RefusesAnUnknownFlagWithTheNextStep) {
  EXPECT_EQ(exit_code({"--deadline", "3"}), kExitUsage);
  EXPECT_THAT(err_, AllOf(HasSubstr("--deadline"), HasSubstr("--help")));
}

TEST_F(CommandLineTest, RefusesAStrayWord) {
  EXPECT_EQ(exit_code({"8080"}), kExitUsage);
  EXPECT_THAT(err_, HasSubstr("8080"));
}

TEST_F(CommandLineTest, RefusesWhatIsNoNumberWithTheRange) {
  for (const char* value : {"soon", "1.5", "-", "3x"}) {
    EXPECT_EQ(exit_code({std::string("--lease-ms=") + value}), kExitUsage) << value;
    EXPECT_THAT(err_,
                StartsWith(fmt::format(
                    "slipstream-router: --lease-ms {} is no whole number; choose 500 to 600000\nRun with --help", value)));
  }
}

TEST_F(CommandLineTest, RefusesANumberOutOfRangeWithTheRange) {
  for (const char* value : {"-5", "5", "600001", "99999999999999999999"}) {
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"--lease-ms", value}, {std::string("--lease-ms=") + value}}) {
      EXPECT_EQ(exit_code(words), kExitUsage) << value;
      EXPECT_THAT(err_, StartsWith(fmt::format(
                            "slipstream-router: --lease-ms {} is out of range; choose 500 to 600000\nRun with --help", value)));
    }
  }
}

TEST_F(CommandLineTest, TellsThatZeroIsFineWhereItStandsForSomethingElse) {
  parse(parse_verifier_options, {"--context-max", "few"});
  EXPECT_THAT(err_, HasSubstr("--context-max few is no whole number; choose 0, or 16 to 131072"));
  parse(parse_verifier_options, {"--context-max", "3"});
  EXPECT_THAT(err_, HasSubstr("--context-max 3 is out of range; choose 0, or 16 to 131072"));
  EXPECT_TRUE(std::holds_alternative<VerifierOptions>(parse(parse_verifier_options, {"--context-max", "0"}))) << err_;
}

TEST_F(CommandLineTest, TellsOfEachNumberThatIsOutOfRange) {
  parse(parse_verifier_options, {"--threads", "257", "--cache-tokens", "1", "--context-max", "1048576"});
  EXPECT_THAT(err_, AllOf(HasSubstr("--threads 257 is out of range; choose 0 to 256\n"),
                          HasSubstr("--cache-tokens 1 is out of range; choose 256 to 16777216\n"),
                          HasSubstr("--context-max 1048576 is out of range; choose 0, or 16 to 131072\n")));
  const ScopedVariable variable("SLIPSTREAM_THREADS", "257");
  parse(parse_drafter_options, {});
  EXPECT_THAT(err_, HasSubstr("SLIPSTREAM_THREADS 257 is out of range; choose 0 to 256\n"));
}

TEST_F(CommandLineTest, NamesTheVariableThatIsNoNumber) {
  const ScopedVariable variable("SLIPSTREAM_LEASE_MS", "abc");
  EXPECT_EQ(exit_code({}), kExitUsage);
  EXPECT_THAT(err_,
              StartsWith("slipstream-router: SLIPSTREAM_LEASE_MS abc is no whole number; choose 500 to 600000\nRun with"));
}

TEST_F(CommandLineTest, NamesTheFileWhoseNumberIsNone) {
  const std::string file = folder_.write("router.toml", "lease-ms = \"abc\"\n");
  EXPECT_EQ(exit_code({"--config", file}), kExitUsage);
  EXPECT_THAT(err_,
              StartsWith("slipstream-router: " + file + ", line 1: lease-ms abc is no whole number; choose 500 to 600000\n"));
}

TEST_F(CommandLineTest, SuggestsTheFlagThatAMisspeltOneMeant) {
  EXPECT_EQ(exit_code({"--leese-ms", "5"}), kExitUsage);
  EXPECT_THAT(err_, StartsWith("slipstream-router: there is no flag --leese-ms; did you mean --lease-ms?\nRun with --help"));
  EXPECT_EQ(exit_code({"--chek-config"}), kExitUsage);
  EXPECT_THAT(err_, HasSubstr("did you mean --check-config?"));
  EXPECT_EQ(exit_code({"--config", folder_.write("router.toml", "leese-ms = 5\n")}), kExitUsage);
  EXPECT_THAT(err_, HasSubstr("there is no setting \"leese-ms\"; did you mean lease-ms?"));
}

TEST_F(CommandLineTest, WarnsOfAMisspeltVariableAndGoesOn) {
  const ScopedVariable variable("SLIPSTREAM_LEESE_MS", "5000");
  EXPECT_EQ(router({}).lease_ms, 10000u);
  EXPECT_EQ(err_, "slipstream-router: SLIPSTREAM_LEESE_MS is no setting and was ignored; did you mean SLIPSTREAM_LEASE_MS?\n");
}

TEST_F(CommandLineTest, WarnsInTheFormatOfTheLog) {
  const ScopedVariable variable("SLIPSTREAM_LEESE_MS", "5000");
  EXPECT_EQ(router({"--log-format", "json"}).log_format, "json");
  EXPECT_THAT(err_, HasSubstr(R"("level":"warning","service":"router","message":"SLIPSTREAM_LEESE_MS is no setting)"));
}

TEST_F(CommandLineTest, ExplainsProblemsInTheFormatOfTheLog) {
  const auto error = [](const std::string& words) {
    return HasSubstr(R"("level":"error","service":"router","message":")" + words);
  };
  EXPECT_EQ(exit_code({"--log-format", "json", "--nodes-max", "999", "--lease-ms", "1"}), kExitUsage);
  EXPECT_THAT(err_, AllOf(error("--nodes-max 999 is out of range"), error("--lease-ms 1 is out of range")));
  EXPECT_EQ(std::ranges::count(err_, '\n'), 2) << "and nothing that is no JSON";
  EXPECT_EQ(exit_code({"--log-format", "json", "--leese-ms", "5"}), kExitUsage);
  EXPECT_THAT(err_, error("there is no flag --leese-ms"));
}

// One environment may serve all roles: what is another's setting is no misspelling.
TEST_F(CommandLineTest, TakesNoOtherServicesSettingForAMisspelling) {
  std::vector<std::string> names{"config"};
  const auto note_settings = [&] {
    std::istringstream table(out_);
    for (std::string line; std::getline(table, line);) names.push_back(line.substr(0, line.find(' ')));
  };
  parse(parse_router_options, {"--check-config"});
  note_settings();
  parse(parse_verifier_options, {"--check-config"});
  note_settings();
  parse(parse_drafter_options, {"--check-config"});
  note_settings();
  ASSERT_GT(names.size(), 40u);
  std::vector<std::unique_ptr<ScopedVariable>> variables;  // empty: as if unset, but there
  for (const std::string& name : names) variables.push_back(std::make_unique<ScopedVariable>(environment_name(name), ""));
  parse(parse_router_options, {});
  EXPECT_EQ(err_, "");
  parse(parse_verifier_options, {});
  EXPECT_EQ(err_, "");
  parse(parse_drafter_options, {});
  EXPECT_EQ(err_, "");
}

TEST_F(CommandLineTest, CountsARouterThatIsNamedTwiceOnce) {
  const auto parsed = parse(parse_verifier_options, {"--router", "tcp://127.0.0.1:1", "--router", "tcp://127.0.0.1:2",
                                                     "--router", "tcp://127.0.0.1:1", "--router", "tcp://localhost:2"});
  ASSERT_TRUE(std::holds_alternative<VerifierOptions>(parsed)) << err_;
  EXPECT_THAT(std::get<VerifierOptions>(parsed).router, ElementsAre("tcp://127.0.0.1:1", "tcp://127.0.0.1:2"));
  EXPECT_EQ(err_,
            "slipstream-verifier: --router names tcp://127.0.0.1:1 twice; it counts once\n"
            "slipstream-verifier: --router names tcp://localhost:2, which is tcp://127.0.0.1:2 again; it counts once\n");
  const auto spelt = parse(parse_verifier_options, {"--router", "tcp://localhost:2#router", "--key", "k", "--peers", "p"});
  EXPECT_THAT(std::get<VerifierOptions>(spelt).router, ElementsAre("tcp://127.0.0.1:2#router"));
  parse(parse_drafter_options, {"--router", "tcp://127.0.0.1:1#router", "--router", "tcp://127.0.0.1:1"});
  EXPECT_THAT(err_, HasSubstr("which is tcp://127.0.0.1:1#router again"));
}

TEST_F(CommandLineTest, SaysWhichPortsARouterMayHave) {
  parse(parse_verifier_options, {"--router", "tcp://127.0.0.1:99999"});
  EXPECT_THAT(err_, HasSubstr("--router: \"tcp://127.0.0.1:99999\" has no port in 1..65535; write the one it listens on\n"));
}

TEST_F(CommandLineTest, NamesTheFileAndTheSettingItDoesNotKnow) {
  const std::string file = folder_.write("router.toml", "deadline = 3\n");
  EXPECT_EQ(exit_code({"--config", file}), kExitUsage);
  EXPECT_THAT(err_, AllOf(HasSubstr(file), HasSubstr("\"deadline\"")));
}

TEST_F(CommandLineTest, TellsTheLineOfASettingWithoutAValueOrThatComesTwice) {
  const auto told = [&](const std::string& text) {
    EXPECT_EQ(exit_code({"--config", folder_.write("router.toml", text)}), kExitUsage);
    return err_;
  };
  EXPECT_THAT(told("\nmodel-name\n"), HasSubstr("router.toml, line 2: model-name has no value\n"));
  EXPECT_THAT(told("nodes-max = 4\nlease-ms =\n"), HasSubstr("router.toml, line 2: lease-ms has no value\n"));
  EXPECT_THAT(told("lease-ms = 600\nlease-ms = 700\n"), HasSubstr("router.toml, line 2: lease-ms comes twice"));
  EXPECT_THAT(told("lease-ms = 600\nnodes-max = 4\nlease-ms = 700\n"), HasSubstr("router.toml, line 3: lease-ms comes twice"));
}

TEST_F(CommandLineTest, TakesNoFlagThatIsNoSettingFromAFile) {
  for (const std::string name : {"config", "check-config", "check-load", "version", "help"}) {
    EXPECT_EQ(exit_code({"--config", folder_.write("router.toml", name + " = true\n")}), kExitUsage);
    EXPECT_THAT(err_, HasSubstr("router.toml, line 1: there is no setting \"" + name + "\"; the names are those"));
  }
}

TEST_F(CommandLineTest, DoesSomethingInsteadOnlyWhereAFlagSaysSo) {
  const auto checks = [&](std::vector<std::string> words) {
    return std::get<VerifierOptions>(parse(parse_verifier_options, std::move(words))).check_load;
  };
  EXPECT_TRUE(checks({"--check-load"}));
  const ScopedVariable variable("SLIPSTREAM_CHECK_LOAD", "true");
  EXPECT_FALSE(checks({}));
}

TEST_F(CommandLineTest, RefusesAFileThatIsNotThere) {
  EXPECT_EQ(exit_code({"--config", "/nowhere/router.toml"}), kExitUsage);
  EXPECT_THAT(err_, HasSubstr("/nowhere/router.toml"));
}

TEST_F(CommandLineTest, RefusesABindBeyondLoopback) {
  EXPECT_EQ(exit_code({"--http", "0.0.0.0:8080"}), kExitUsage);
  EXPECT_THAT(err_, AllOf(HasSubstr("--http 0.0.0.0:8080"), HasSubstr("--api-key-file FILE"), HasSubstr("--open")));
}

TEST_F(CommandLineTest, TakesASwitchFromEverySource) {
  EXPECT_FALSE(router({}).open);
  EXPECT_TRUE(router({"--open"}).open);
  EXPECT_TRUE(router({"--config", folder_.write("router.toml", "open = true\n")}).open);
  EXPECT_FALSE(router({"--config", folder_.write("router.toml", "open = false\n")}).open);
  const ScopedVariable variable("SLIPSTREAM_OPEN", "1");
  EXPECT_TRUE(router({}).open);
  EXPECT_EQ(exit_code({"--check-config"}), 0);
  EXPECT_THAT(out_, testing::ContainsRegex("open +(1|true) +SLIPSTREAM_OPEN\n"));
}

// `slipstream serve` keeps the settings of its services in such sections.
TEST_F(CommandLineTest, HandsOnTheSectionsOfItsFileThatBelongToOthers) {
  const std::string file =
      folder_.write("serve.toml", "own = 3\n[other]\nlease-ms = 5000\nlist = [\"a\", \"b\"]\nopen = true\n");
  CommandLine line("service", "Serves.");
  std::optional<uint32_t> own, unset;
  std::vector<std::string> others;
  line.option("--own", own, {0, 5}, "A number");
  line.option("--unset", unset, {0, 5}, "Another");
  line.section("other", others, {"lease-ms"});
  const char* argv[] = {"service", "--config", file.c_str()};
  EXPECT_EQ(line.parse(3, argv, [] { return std::vector<std::string>{}; }), std::nullopt);
  EXPECT_EQ(own, 3u);
  EXPECT_EQ(unset, std::nullopt);
  EXPECT_THAT(others, ElementsAre("--lease-ms=5000", "--list=a", "--list=b", "--open=true"));
}

TEST_F(CommandLineTest, RefusesASectionThatNobodyKnows) {
  EXPECT_EQ(exit_code({"--config", folder_.write("router.toml", "[other]\nlease-ms = 5000\n")}), kExitUsage);
  EXPECT_THAT(err_, HasSubstr("there is no setting \"other"));
}

TEST_F(CommandLineTest, ForgetsTheVariablesOfItsSettingsAndNoOthers) {
  const ScopedVariable own("SLIPSTREAM_OWN", "3"), config("SLIPSTREAM_CONFIG", ""), another("SLIPSTREAM_LEASE_MS", "5000");
  CommandLine line("service", "Serves.");
  std::optional<uint32_t> value;
  line.option("--own", value, {0, 5}, "A number");
  const char* argv[] = {"service"};
  EXPECT_EQ(line.parse(1, argv, [] { return std::vector<std::string>{}; }), std::nullopt);
  EXPECT_EQ(value, 3u);
  line.forget_environment();
  EXPECT_EQ(::getenv("SLIPSTREAM_OWN"), nullptr);
  EXPECT_EQ(::getenv("SLIPSTREAM_CONFIG"), nullptr);
  EXPECT_STREQ(::getenv("SLIPSTREAM_LEASE_MS"), "5000");
}

TEST_F(CommandLineTest, TellsWhatIsWrongWithAFileThatTheSettingsName) {
  const auto check = [](const RouterOptions& options) { return std::vector<std::string>{options.api_key_file + " is bad"}; };
  const std::string model = folder_.path().string();
  const char* argv[] = {"service", "--model", model.c_str(), "--api-key-file", "keys"};
  testing::internal::CaptureStderr();
  const auto parsed = parse_router_options(5, argv, check);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), StartsWith("slipstream-router: keys is bad\n"));
  ASSERT_TRUE(std::holds_alternative<ExitCode>(parsed));
  EXPECT_EQ(std::get<ExitCode>(parsed).value, kExitUsage);
}

TEST_F(CommandLineTest, TellsEveryProblemAtOnce) {
  EXPECT_EQ(exit_code({"--http", "nowhere", "--log-level", "loud", "--nodes-max", "64"}), kExitUsage);
  EXPECT_THAT(err_, AllOf(HasSubstr("--http"), HasSubstr("\"loud\""), HasSubstr("--nodes-max 64")));
}

TEST_F(CommandLineTest, ChecksTheConfigurationAndSaysWhereEachValueCameFrom) {
  const ScopedVariable variable("SLIPSTREAM_NODES_MAX", "4");
  const std::string file = folder_.write("router.toml", "lease-ms = 2000\n");
  EXPECT_EQ(exit_code({"--check-config", "--config", file, "--deadline-us", "9"}), 0);
  EXPECT_THAT(out_, testing::ContainsRegex("deadline-us +9 +flag\n"));
  EXPECT_THAT(out_, testing::ContainsRegex("nodes-max +4 +SLIPSTREAM_NODES_MAX\n"));
  EXPECT_THAT(out_, testing::ContainsRegex("lease-ms +2000 +.*router.toml\n"));
  EXPECT_THAT(out_, testing::ContainsRegex("http +127.0.0.1:8080 +default\n"));
}

TEST_F(CommandLineTest, ChecksABadConfigurationWithExitCodeTwo) {
  EXPECT_EQ(exit_code({"--check-config", "--log-level", "loud"}), kExitUsage);
  EXPECT_THAT(out_, HasSubstr("log-level"));
  EXPECT_THAT(err_, HasSubstr("loud"));
}

}  // namespace
}  // namespace slipstream
