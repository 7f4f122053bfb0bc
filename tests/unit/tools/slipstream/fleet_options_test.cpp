#include "tools/slipstream/fleet_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/config/look_up_file.h"
#include "tests/unit/common/config/surroundings.h"

namespace slipstream::command {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class ServeOptions : public testing::Test {
 protected:
  Parsed<FleetOptions> parse(std::vector<std::string> words) {
    words.insert(words.begin(), "serve");
    std::vector<const char*> argv;
    for (const std::string& word : words) argv.push_back(word.c_str());
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    auto parsed = parse_serve_options(static_cast<int>(argv.size()), argv.data());
    testing::internal::GetCapturedStdout();
    err_ = testing::internal::GetCapturedStderr();
    return parsed;
  }
  FleetOptions good(std::vector<std::string> words) {
    const auto parsed = parse(std::move(words));
    EXPECT_TRUE(std::holds_alternative<FleetOptions>(parsed)) << err_;
    return std::holds_alternative<FleetOptions>(parsed) ? std::get<FleetOptions>(parsed) : FleetOptions{};
  }
  void refuses(std::vector<std::string> words) {
    const auto parsed = parse(std::move(words));
    ASSERT_TRUE(std::holds_alternative<ExitCode>(parsed));
    EXPECT_EQ(std::get<ExitCode>(parsed).value, kExitUsage);
  }

  ScopedFolder folder_;
  std::string err_;
};

TEST_F(ServeOptions, ComeFromFlagsEnvironmentAndFileInThisOrder) {
  const std::string file = folder_.write("serve.toml", "port = 1\nmodel-name = \"mine\"\nthreads = 2\n");
  const ScopedVariable port("SLIPSTREAM_PORT", "2"), threads("SLIPSTREAM_THREADS", "3");
  const FleetOptions options = good({"--config", file, "--port", "3"});
  EXPECT_EQ(options.port, 3U);
  EXPECT_EQ(options.cpus, 3U);
  EXPECT_EQ(options.model_name, "mine");
}

TEST_F(ServeOptions, TakeTheFormatsOfTheirDevice) {
  EXPECT_EQ(good({"--device", "cuda:1", "--weights", "f32"}).weights, "f32");
  EXPECT_EQ(good({"--weights", "q4_0"}).weights, "q4_0");
  refuses({"--weights", "f32"});
  EXPECT_THAT(err_, HasSubstr("choose one of: file, bf16, q8_0"));
  EXPECT_TRUE(good({"--fine-rows"}).fine_rows);
  refuses({"--device", "torch-cpu", "--fine-rows"});
  EXPECT_THAT(err_, HasSubstr("--fine-rows is of --device cpu"));
  refuses({"--device", "torch-cpu", "--weights", "q4_0"});
  EXPECT_THAT(err_, HasSubstr("choose one of: file, f32, bf16, f16"));
}

TEST_F(ServeOptions, HandsOnWhatItsFileHasForOneService) {
  const std::string file = folder_.write(
      "serve.toml", "port = 1\n[router]\nlease-ms = 5000\n[verifier]\nstep-cost-us = 7\n[drafter]\nsiblings = 2\n");
  const FleetOptions options = good({"--config", file});
  EXPECT_THAT(options.router_more, ElementsAre("--lease-ms=5000"));
  EXPECT_THAT(options.verifier_more, ElementsAre("--step-cost-us=7"));
  EXPECT_THAT(options.drafter_more, ElementsAre("--siblings=2"));
}

TEST_F(ServeOptions, UnderstandAFileWithCommentsBehindItsSectionsAndAByteOrderMark) {
  const FleetOptions options =
      good({"--config", folder_.write("serve.toml",
                                      "\xEF\xBB\xBF"
                                      "port = 7 # of the API\n[router]  # what only it knows\nlease-ms = 5000\n"
                                      "[verifier]#\nstep-cost-us = 7\n")});
  EXPECT_EQ(options.port, 7);
  EXPECT_THAT(options.router_more, ElementsAre("--lease-ms=5000"));
  EXPECT_THAT(options.verifier_more, ElementsAre("--step-cost-us=7"));
  refuses({"--config", folder_.path().string()});
  EXPECT_THAT(err_, HasSubstr("cannot be read")) << "a folder";
}

TEST_F(ServeOptions, TellWhatIsWrongWithASectionAndWhere) {
  const auto told = [&](const std::string& text) {
    const std::string file = folder_.write("serve.toml", text);
    refuses({"--config", file, "--check-config"});
    return file;
  };
  std::string file = told("port = 1\n[router]\nlease = 5000\ntune = \"maybe\"\nlease-ms = \"soon\"\nstrict = \"perhaps\"\n");
  EXPECT_THAT(err_, AllOf(HasSubstr(file + ", line 3, [router]: there is no flag --lease; did you mean --lease-ms?"),
                          HasSubstr(file + ", line 4, [router]: --tune \"maybe\" is not known; choose one of: on, off"),
                          HasSubstr(file + ", line 5, [router]: --lease-ms soon is no whole number; choose "),
                          HasSubstr(file + ", line 6, [router]: ")));
  file = told("[verifier]\nstep-cost-us = 7\nstep-cost-us = -1\n[drafter]\n\nsiblings = 99\n");
  EXPECT_THAT(err_, AllOf(HasSubstr(file + ", line 3, [verifier]: "),
                          HasSubstr(file + ", line 6, [drafter]: --siblings 99 is out of range")));
  file = told("[router]\ntenants = \"some\"\n");
  EXPECT_THAT(err_, HasSubstr(file + ", line 2, [router]: --tenants \"some\" is not known; choose one of: by-key, one"));
  file = told("[router]\nlease-ms = 5000\ndeadline-us = 5\n");
  EXPECT_THAT(err_, HasSubstr(file + ", line 3: the section [router] has deadline-us, which `slipstream serve` sets"));
  file = told("[router]\nlease-ms\n");
  EXPECT_THAT(err_, HasSubstr(file + ", line 2: router.lease-ms has no value"));
  for (const std::string name : {"config", "check-config", "version", "help"}) {
    file = told("[verifier]\n" + name + " = true\n");
    EXPECT_THAT(err_, HasSubstr(file + ", line 2: there is no setting \"verifier." + name + "\""));
  }
  file = told("port = 1\nprot = 2\n");
  EXPECT_THAT(err_, HasSubstr(file + ", line 2: there is no setting \"prot\"; did you mean port?"));
}

// Beyond loopback the drafter's link needs keys, which serve gives it.
TEST_F(ServeOptions, JudgeASectionBesideWhatServeGivesItsService) {
  const std::string file = folder_.write("serve.toml", "[drafter]\nbind = \"tcp://10.0.0.5:7301\"\n");
  refuses({"--config", file});
  EXPECT_THAT(err_, HasSubstr(file + ", line 2, [drafter]: --bind tcp://10.0.0.5:7301 would be reachable"));
  EXPECT_THAT(good({"--config", file, "--keys", "keys"}).drafter_more, ElementsAre("--bind=tcp://10.0.0.5:7301"));
}

// A service would take SLIPSTREAM_CONFIG for a file of its own, and SLIPSTREAM_LOOK_UP_FILE would
// be written by two.
TEST_F(ServeOptions, AreTakenOutOfTheEnvironmentThatTheServicesGet) {
  const ScopedVariable config("SLIPSTREAM_CONFIG", folder_.write("serve.toml", "port = 0\n"));
  const ScopedVariable file("SLIPSTREAM_LOOK_UP_FILE", "answers"), lease("SLIPSTREAM_LEASE_MS", "5000");
  EXPECT_EQ(good({}).look_up_file, "answers");
  EXPECT_EQ(::getenv("SLIPSTREAM_CONFIG"), nullptr);
  EXPECT_EQ(::getenv("SLIPSTREAM_LOOK_UP_FILE"), nullptr);
  EXPECT_STREQ(::getenv("SLIPSTREAM_LEASE_MS"), "5000") << "the router reads it itself";
}

TEST_F(ServeOptions, LetOtherMachinesInWithKeysOrOpenly) {
  refuses({"--host", "0.0.0.0"});
  EXPECT_THAT(err_, AllOf(HasSubstr("--host 0.0.0.0"), HasSubstr("--api-key-file"), HasSubstr("--open")));
  EXPECT_EQ(good({"--host", "0.0.0.0", "--open"}).host, "0.0.0.0");
  EXPECT_EQ(good({"--host", "::", "--api-key-file", "keys"}).api_key_file, "keys");
  EXPECT_EQ(good({"--host", "::1"}).host, "::1");
}

TEST_F(ServeOptions, NameTheRulesThatThereAre) {
  refuses({"--rules", "coupled,rato"});
  EXPECT_THAT(err_, HasSubstr("--rules has \"rato\", which is no rule: give some of coupled, ratio, batch"));
  refuses({"--rules", "ratio"});
  EXPECT_THAT(err_, HasSubstr("--rules must have coupled"));
  EXPECT_EQ(good({"--rules", "coupled,pareto"}).rules, "coupled,pareto");
}

// The start found these, after it had started processes, or nobody did.
TEST_F(ServeOptions, AreRefusedWhereDraftsCannotUseThem) {
  refuses({"--draft-model", "m", "--check-config"});
  EXPECT_THAT(err_, HasSubstr("--draft-model m has no use with --drafter ngram"));
  refuses({"--drafter", "draft-head", "--head", "none", "--check-config"});
  EXPECT_THAT(err_, HasSubstr("--drafter draft-head needs a draft head, and --head none leaves it out"));
  refuses({"--look-up-file", "f", "--drafter", "none", "--resident", "none"});
  EXPECT_THAT(err_, HasSubstr("where nothing looks up"));
  refuses({"--check-config", "--look-up-file", (folder_.path() / "nowhere/f").string()});
  EXPECT_THAT(err_, HasSubstr("is no folder that this process may write to"));
  refuses({"--look-up-file", folder_.write("letter", "Dear all,")});
  EXPECT_THAT(err_, HasSubstr("letter: it is no file of remembered answers"));
  const std::string mine = (folder_.path() / "mine").string();
  EXPECT_EQ(good({"--look-up-file", mine}).look_up_file, mine);
  const auto lock = take_look_up_file(mine).value();
  refuses({"--look-up-file", mine});
  EXPECT_THAT(err_, HasSubstr("mine: a process that runs uses it"));
}

TEST_F(ServeOptions, AreRefusedByTheNameThatIsMeant) {
  refuses({"--prot", "8081"});
  EXPECT_THAT(err_, HasSubstr("did you mean --port?"));
  refuses({"--tune", "on", "--head-rule=fixed:3"});
  EXPECT_THAT(err_, HasSubstr("--tune is a flag of the router: write tune = ... below [router]"));
  EXPECT_THAT(err_, HasSubstr("--head-rule is a flag of the verifier: write head-rule = ... below [verifier]"));
  refuses({"--config", folder_.write("serve.toml", "prot = 1\n")});
  EXPECT_THAT(err_, HasSubstr("did you mean port?"));
  refuses({"--drafter", "eagle"});
  EXPECT_THAT(err_, HasSubstr("choose one of: ngram, small-lm, draft-head, none"));
  refuses({"--port", "65536"});
  EXPECT_THAT(err_, HasSubstr("--port 65536 is out of range"));
  refuses({"--log-level", "loud"});
  EXPECT_THAT(err_, HasSubstr("\"loud\""));
}

}  // namespace
}  // namespace slipstream::command
