#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/config/cpu_quota.h"
#include "common/config/drafter_config.h"
#include "common/config/look_up_file.h"
#include "common/config/router_config.h"
#include "common/config/settings_checks.h"
#include "common/config/verifier_config.h"
#include "tests/unit/common/config/surroundings.h"

namespace slipstream {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Options : public testing::Test {
 protected:
  template <class T>
  T good() const {
    T options;
    options.model = folder_.path().string();
    return options;
  }
  ScopedFolder folder_;
};

TEST_F(Options, AreFineByDefaultOnceTheModelIsThere) {
  EXPECT_THAT(good<RouterOptions>().validate(), IsEmpty());
  EXPECT_THAT(good<VerifierOptions>().validate(), IsEmpty());
  EXPECT_THAT(good<DrafterOptions>().validate(), IsEmpty());
}

TEST_F(Options, SayHowToGetAMissingModel) {
  auto options = good<VerifierOptions>();
  options.model = "/nowhere";
  EXPECT_THAT(options.validate(), ElementsAre(HasSubstr("make setup")));
}

// The start alone found these, after the model was loaded.
TEST_F(Options, LookAtTheFileOfEarlierAnswers) {
  auto verifier = good<VerifierOptions>();
  auto drafter = good<DrafterOptions>();
  const auto expect = [&](const std::string& file, const auto& problems) {
    verifier.look_up.file = drafter.look_up.file = file;
    EXPECT_THAT(verifier.validate(), problems) << file;
    EXPECT_THAT(drafter.validate(), problems) << file;
  };
  const std::string mine = (folder_.path() / "mine").string();
  expect(mine, IsEmpty());
  expect((folder_.path() / "nowhere/answers").string(), ElementsAre(HasSubstr("is no folder that this process may write to")));
  expect(folder_.write("letter", "Dear all,"), ElementsAre(HasSubstr("letter: it is no file of remembered answers")));
  const auto lock = take_look_up_file(mine).value();
  expect(mine, ElementsAre(HasSubstr("--look-up-file " + mine + ": a process that runs uses it")));
  verifier.resident = "none";
  EXPECT_THAT(verifier.validate(), ElementsAre(HasSubstr("choose --resident ngram"))) << "one sentence is enough";
}

TEST_F(Options, BindOnLoopbackOnly) {
  auto router = good<RouterOptions>();
  router.bind = "tcp://0.0.0.0:7300";
  EXPECT_THAT(router.validate(), ElementsAre(HasSubstr("--bind tcp://0.0.0.0:7300")));
  router.bind = "127.0.0.1:7300";
  EXPECT_THAT(router.validate(), ElementsAre(HasSubstr("no tcp://")));
  auto verifier = good<VerifierOptions>();
  verifier.metrics = "10.0.0.1:9000";
  EXPECT_THAT(verifier.validate(), ElementsAre(HasSubstr("--metrics 10.0.0.1:9000")));
}

TEST_F(Options, LetOtherMachinesReachHttpWithAKeyFileOrOpenly) {
  auto router = good<RouterOptions>();
  for (const char* address : {"0.0.0.0:8080", "[::]:8080", "10.0.0.1:8080"}) {
    router.http = address;
    router.open = false;
    router.api_key_file.clear();
    EXPECT_THAT(router.validate(),
                ElementsAre(testing::AllOf(HasSubstr(address), HasSubstr("--api-key-file"), HasSubstr("--open"))));
    router.open = true;
    EXPECT_THAT(router.validate(), IsEmpty());
    router.open = false;
    router.api_key_file = "api-keys";
    EXPECT_THAT(router.validate(), IsEmpty());
  }
  auto verifier = good<VerifierOptions>();
  verifier.metrics = "0.0.0.0:9000";
  EXPECT_THAT(verifier.validate(), ElementsAre(HasSubstr("--open")));
  verifier.open = true;
  EXPECT_THAT(verifier.validate(), IsEmpty());
}

TEST_F(Options, NeedACertificateAndItsKeyForHttps) {
  auto router = good<RouterOptions>();
  router.tls_cert = "cert.pem";
  EXPECT_THAT(router.validate(), ElementsAre(HasSubstr("--tls-cert is given without --tls-key")));
  router.tls_key = "key.pem";
  EXPECT_THAT(router.validate(), IsEmpty());
  router.tls_cert.clear();
  EXPECT_THAT(router.validate(), ElementsAre(HasSubstr("--tls-key is given without --tls-cert")));
}

TEST_F(Options, MayLeaveLoopbackWithKeys) {
  auto router = good<RouterOptions>();
  router.bind = "tcp://0.0.0.0:7300";
  router.key = "keys/router.key";
  EXPECT_THAT(router.validate(), ElementsAre(HasSubstr("--key is given without --peers")));
  router.peers = "keys/peers";
  EXPECT_THAT(router.validate(), IsEmpty());
  auto drafter = good<DrafterOptions>();
  drafter.router = {"tcp://10.0.0.1:7300#router-2"};
  EXPECT_THAT(drafter.validate(), ElementsAre(HasSubstr("beyond this machine")));
  drafter.key = "keys/drafter.key";
  drafter.peers = "keys/peers";
  EXPECT_THAT(drafter.validate(), IsEmpty());
  drafter.router = {"tcp://db_1:7300#router"};
  EXPECT_THAT(drafter.validate(), IsEmpty());
  drafter.bind = "tcp://0.0.0.0:7301";
  EXPECT_THAT(drafter.validate(), ElementsAre(HasSubstr("names no machine")));
  drafter.bind = "tcp://[::]:7301";
  EXPECT_THAT(drafter.validate(), ElementsAre(HasSubstr("names no machine")));
}

TEST_F(Options, NameAKeyOnlyWithKeys) {
  auto verifier = good<VerifierOptions>();
  verifier.router = {"tcp://127.0.0.1:7300#router"};
  EXPECT_THAT(verifier.validate(), ElementsAre(HasSubstr("this process has none")));
}

TEST_F(Options, NeedARouterThatCanBeConnectedTo) {
  auto options = good<DrafterOptions>();
  options.router = {};
  EXPECT_THAT(options.validate(), ElementsAre(HasSubstr("--router names no endpoint")));
  options.router = {"tcp://127.0.0.1:*"};
  EXPECT_THAT(options.validate(), ElementsAre(HasSubstr("has no port in 1..65535; write the one it listens on")));
  options.router = {"tcp://10.0.0.1:7300"};
  EXPECT_THAT(options.validate(), ElementsAre(HasSubstr("beyond this machine")));
  options.router = {"127.0.0.1:7300"};
  EXPECT_THAT(options.validate(), ElementsAre(HasSubstr("tcp://host:port")));
}

TEST_F(Options, AdvertiseWhatCanBeConnectedTo) {
  auto drafter = good<DrafterOptions>();
  drafter.advertise = "tcp://127.0.0.1:7310";
  EXPECT_THAT(drafter.validate(), IsEmpty());
  drafter.advertise = "tcp://127.0.0.1:0";
  EXPECT_THAT(drafter.validate(), ElementsAre(HasSubstr("--advertise: \"tcp://127.0.0.1:0\" has no port in 1..65535")));
  drafter.advertise = "drafter";
  EXPECT_THAT(drafter.validate(), ElementsAre(HasSubstr("--advertise: \"drafter\" has no port")));
}

TEST_F(Options, FindRoutersByANameOnlyWithKeys) {
  auto verifier = good<VerifierOptions>();
  verifier.router = {"dns://routers.example:7300"};
  EXPECT_THAT(verifier.validate(), ElementsAre(HasSubstr("beyond this machine")));
  verifier.key = "keys/verifier.key";
  verifier.peers = "keys/peers";
  EXPECT_THAT(verifier.validate(), IsEmpty());
  verifier.router = {"dns://routers.example:0"};
  EXPECT_THAT(verifier.validate(), ElementsAre(HasSubstr("has no port in 1..65535")));
  auto drafter = good<DrafterOptions>();
  drafter.advertise = "dns://drafters.example:7301";
  EXPECT_THAT(drafter.validate(), testing::Contains(HasSubstr("is no endpoint between processes")));
}

TEST_F(Options, AdvertiseMetricsThatCanBeConnectedTo) {
  auto verifier = good<VerifierOptions>();
  verifier.advertise_metrics = "10.0.0.7:9100";
  EXPECT_THAT(verifier.validate(), IsEmpty());
  verifier.advertise_metrics = "10.0.0.7";
  EXPECT_THAT(verifier.validate(), ElementsAre(HasSubstr("--advertise-metrics: \"10.0.0.7\" has no port")));
}

TEST_F(Options, SayWhereADraftHeadDrafts) {
  auto drafter = good<DrafterOptions>();
  drafter.head = "h";
  EXPECT_THAT(drafter.validate(), ElementsAre("--head has no use with --method ngram; choose draft-head"));
  drafter.method = "draft-head";
  EXPECT_THAT(drafter.validate(), IsEmpty());
  drafter.draft_model = drafter.model;
  EXPECT_THAT(drafter.validate(), ElementsAre("--draft-model has no use with --method draft-head; choose small-lm"));
  auto verifier = good<VerifierOptions>();
  verifier.head_at = "home";
  EXPECT_THAT(verifier.validate(), ElementsAre(HasSubstr("choose one of: verifier, drafters")));
  verifier.head_at = "drafters";
  EXPECT_THAT(verifier.validate(), IsEmpty());
  verifier.head = "none";
  verifier.head_rule = "fixed:2";
  EXPECT_THAT(verifier.validate(), ElementsAre(HasSubstr("needs a draft head"), HasSubstr("--head-rule has no use")));
  verifier.head_at = "verifier";
  EXPECT_THAT(verifier.validate(), ElementsAre("--head-rule needs a draft head, and --head none leaves it out"));
}

TEST_F(Options, RefuseADeviceWithoutAModelForIt) {
  auto drafter = good<DrafterOptions>();
  drafter.device = "torch-cpu";
  EXPECT_THAT(drafter.validate(),
              ElementsAre("--device torch-cpu has no use with --method ngram, which has no model; leave it out"));
  drafter.method = "small-lm";
  EXPECT_THAT(drafter.validate(), IsEmpty());
}

TEST_F(Options, KnowTheirMethodsPathsAndWeights) {
  auto drafter = good<DrafterOptions>();
  drafter.method = "eagle";
  EXPECT_THAT(drafter.validate(), ElementsAre(HasSubstr("choose one of: ngram, small-lm")));
  EXPECT_EQ(method_words(),
            "ngram (look-up in the sequence itself), small-lm (a small model), draft-head (the target's draft head)");
  drafter.method = "ngram";
  drafter.draft_model = drafter.model;
  EXPECT_THAT(drafter.validate(), ElementsAre("--draft-model has no use with --method ngram; choose small-lm"));
  auto verifier = good<VerifierOptions>();
  verifier.path = "neon";
  verifier.weights = "int4";
  EXPECT_THAT(verifier.validate(),
              ElementsAre(HasSubstr("--path \"neon\" is not known; choose one of: auto, portable, avx2"),
                          HasSubstr("--weights \"int4\" is not known; choose one of: file, bf16, q8_0, q4_0, q4_1, "
                                    "q5_1, q6_k")));
  drafter = good<DrafterOptions>();
  drafter.path = "neon";
  drafter.weights = "int4";
  EXPECT_THAT(drafter.validate(), ElementsAre(HasSubstr("--path"), HasSubstr("--weights")));
}

TEST_F(Options, NameTheModelAfterItsFolderOrFile) {
  RouterOptions options;
  options.model = "models/smollm2-135m-instruct/";
  EXPECT_THAT(options.served_names(), ElementsAre("smollm2-135m-instruct"));
  options.model = "models/SmolLM2-135M.Q4_1.gguf";
  EXPECT_THAT(options.served_names(), ElementsAre("SmolLM2-135M.Q4_1"));
  options.model = "tiny";
  EXPECT_THAT(options.served_names(), ElementsAre("tiny"));
  options.model_name = {"mine", "gpt-4o"};
  EXPECT_THAT(options.served_names(), ElementsAre("mine", "gpt-4o"));
}

TEST_F(Options, NameAPrometheusByItsHostAndPort) {
  auto router = good<RouterOptions>();
  router.prometheus = "http://127.0.0.1:9090";
  EXPECT_THAT(router.validate(), ElementsAre());
  for (const char* bad : {"127.0.0.1:9090", "http://", "http://prometheus:9090/prefix", "https://prometheus:9090"}) {
    router.prometheus = bad;
    EXPECT_THAT(router.validate(), ElementsAre(HasSubstr("--prometheus is"))) << bad;
  }
}

TEST_F(Options, RefuseADefaultThatNoRequestMayHave) {
  auto router = good<RouterOptions>();
  router.default_temperature = 2.5;
  router.default_top_p = 0;
  router.default_min_p = 1;
  router.model_name = {"*"};
  EXPECT_THAT(router.validate(), ElementsAre(HasSubstr("--model-name must begin with a name"),
                                             HasSubstr("--default-temperature must be between 0 and 2"),
                                             HasSubstr("--default-top-p"), HasSubstr("--default-min-p")));
}

TEST_F(Options, TakeTheQuotaForThreads) {
  auto options = good<VerifierOptions>();
  EXPECT_EQ(options.threads_or_quota(), static_cast<uint32_t>(cpu_quota()));
  options.threads = 3;
  EXPECT_EQ(options.threads_or_quota(), 3u);
}

}  // namespace
}  // namespace slipstream
