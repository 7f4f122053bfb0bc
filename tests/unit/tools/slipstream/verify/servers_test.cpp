// ServerPair, QuestionPool and draw_samples, over real HTTP to a small server that is no
// Slipstream.
#include "tools/slipstream/verify/servers.h"

#include <atomic>
#include <mutex>
#include <set>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "common/http/server.h"
#include "tools/slipstream/verify/byte_check.h"
#include "tools/slipstream/verify/question_pool.h"
#include "tools/slipstream/verify/samples.h"

namespace slipstream::command::verify {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kStream =
    "data: {\"choices\": [{\"delta\": {\"content\": \"he\"}, \"logprobs\": {\"content\": [{\"token\": \"h\"}, {\"token\": "
    "\"e\"}]}}]}\n\n"
    "data: {\"choices\": [{\"delta\": {\"content\": \"y\"}, \"logprobs\": {\"content\": [{\"token\": \"y\"}]}}]}\n\n"
    "data: {\"choices\": [{\"delta\": {}, \"finish_reason\": \"length\"}]}\n\n";
constexpr const char* kIds = "data: {\"choices\": [{\"delta\": {}}], \"slipstream\": {\"token_ids\": [7]}}\n\n";
constexpr const char* kDone = "data: [DONE]\n\n";

class Parrot {
 public:
  Parrot()
      : server_(*http::Server::listen(
            "127.0.0.1", 0, [this](const http::Request& request, const http::Exchange& exchange) { answer(request, exchange); },
            [](int status, std::string_view message, std::string_view) {
              return http::Response{.status = status, .body = std::string(message)};
            })) {}

  std::string url() const { return fmt::format("http://127.0.0.1:{}", server_.port()); }
  std::string last() {
    std::lock_guard lock(mutex_);
    return last_;
  }
  size_t different_requests() {
    std::lock_guard lock(mutex_);
    return bodies_.size();
  }
  uint64_t connections() const { return server_.counters().connections; }
  std::atomic<bool> refuses = false, breaks_off = false;
  std::string owner = "somebody", usage;  // before anybody asks
  bool ids = false;                       // likewise

 private:
  void answer(const http::Request& request, http::Exchange exchange) {
    if (request.method == "GET") {
      return exchange.send({.body = fmt::format(R"({{"data": [{{"id": "parrot", "owned_by": "{}"}}]}})", owner)});
    }
    {
      std::lock_guard lock(mutex_);
      last_ = request.body;
      bodies_.insert(request.body);
    }
    if (refuses) return exchange.send({.status = 429, .body = R"({"error": {"message": "too many at once"}})"});
    exchange.begin_stream("text/event-stream");
    if (ids) exchange.write(kIds);
    exchange.write(kStream);
    if (!usage.empty()) exchange.write("data: " + nlohmann::json::parse(usage).dump() + "\n\n");
    if (!breaks_off) exchange.write(kDone);
    exchange.end();
  }

  std::mutex mutex_;
  std::string last_;
  std::set<std::string> bodies_;
  http::Server server_;
};

TEST(VerifySide, AsksAStrangerInStandardWordsOnly) {
  Parrot parrot;
  const auto server = probe({parrot.url(), ""});
  ASSERT_TRUE(server) << server.error().message;
  EXPECT_EQ(server->model.name, "parrot");
  EXPECT_FALSE(server->slipstream());
  http::Client client = connect(*server);
  const auto answer = ask(client, *server, {"say hey", 5, 0.5F, 3}, true);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->text, "hey");
  EXPECT_THAT(answer->logprob_tokens, testing::ElementsAre("h", "e", "y"));
  EXPECT_EQ(answer->finish, "length");
  EXPECT_THAT(parrot.last(), HasSubstr("\"seed\":5"));
  EXPECT_THAT(parrot.last(), Not(HasSubstr("slipstream")));
  EXPECT_THAT(parrot.last(), Not(HasSubstr("speculation")));
}

TEST(VerifySide, TellsTokensByLogprobsIfTheyComeWhenAskedFor) {
  Parrot parrot;
  const auto servers = probe_two({parrot.url(), ""}, {parrot.url(), "another"});
  ASSERT_TRUE(servers) << servers.error().message;
  EXPECT_TRUE(servers->reference.logprobs);
  EXPECT_EQ(servers->candidate.model.name, "another");
  parrot.refuses = true;
  EXPECT_FALSE(probe_two({parrot.url(), ""}, {parrot.url(), ""})->candidate.logprobs);
}

// What both are asked with, and what the candidate alone is.
TEST(VerifySide, AsksWithTheFieldsThatTheUserGave) {
  Parrot parrot;
  parrot.owner = "slipstream";
  parrot.ids = true;
  auto servers = probe_switched({parrot.url(), ""}, {.rule = "batch", .siblings = 3});
  ASSERT_TRUE(servers) << servers.error().message;
  servers->reference.defaults.more = servers->candidate.defaults.more = R"({"top_p":0.9})";
  const auto asked = [&](const ServerUnderTest& server) {
    http::Client client = connect(server);
    (void)ask(client, server, {"hey", 5, 0.5F, 3});
    return nlohmann::json::parse(parrot.last());
  };
  const nlohmann::json reference = asked(servers->reference), candidate = asked(servers->candidate);
  EXPECT_EQ(reference["speculation"], nlohmann::json::parse(R"({"enabled": false})"));
  EXPECT_EQ(candidate["speculation"], nlohmann::json::parse(R"({"enabled": true, "rule": "batch", "siblings": 3})"));
  EXPECT_EQ(reference["top_p"], 0.9);
  EXPECT_EQ(candidate["top_p"], 0.9);
  EXPECT_THAT(servers->candidate.words(), testing::EndsWith("rule batch {\"siblings\":3}"));
}

TEST(VerifySide, SaysThatTheDrafterAskedForIsNotThere) {
  Parrot parrot;
  parrot.owner = "slipstream";
  parrot.usage = R"({"choices": [], "slipstream": {"speculation": {"rule": "coupled", "asked": "coupled",
                     "reason": "no_drafter_of_that_method"}}})";
  const auto servers = probe_switched({parrot.url(), ""}, {.drafter = "small-lm"});
  ASSERT_TRUE(servers);
  http::Client client = connect(servers->candidate);
  const auto answer = ask(client, servers->candidate, {"hey", 5, 0.5F, 3});
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("has no drafter as asked for (--drafter, --rule): no_drafter_of_that_method"));
}

TEST(VerifySide, SaysWhyAnotherRuleRan) {
  Parrot parrot;
  parrot.owner = "slipstream";
  parrot.usage = R"({"choices": [], "slipstream": {"speculation": {"rule": "coupled", "asked": "ratio",
                     "reason": "no_trusted_drafter"}}})";
  const auto servers = probe_switched({parrot.url(), ""}, {.rule = "ratio"});
  ASSERT_TRUE(servers);
  http::Client client = connect(servers->candidate);
  const auto answer = ask(client, servers->candidate, {"hey", 5, 0.5F, 3});
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message,
              HasSubstr("ran the rule coupled where ratio was asked for; its reason: no_trusted_drafter"));
}

TEST(VerifySide, InventsNoReasonForAnotherRule) {
  Parrot parrot;
  parrot.owner = "slipstream";
  parrot.usage = R"({"choices": [], "slipstream": {"speculation": {"rule": "block"}}})";
  const auto servers = probe_switched({parrot.url(), ""}, {.rule = "traversal", .siblings = 1});
  ASSERT_TRUE(servers);
  http::Client client = connect(servers->candidate);
  const auto answer = ask(client, servers->candidate, {"hey", 5, 0.5F, 3});
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message,
              testing::EndsWith("ran the rule block where traversal was asked for; it does not say why"));
}

// A gateway that keeps what the standard knows: the other side's ids have nothing to be compared
// with.
TEST(VerifySide, GivesIdsOnlyIfTheyCome) {
  Parrot whole, bare;
  whole.owner = bare.owner = "slipstream";
  whole.ids = true;
  const auto servers = probe_two({whole.url(), ""}, {bare.url(), ""});
  ASSERT_TRUE(servers) << servers.error().message;
  EXPECT_TRUE(servers->reference.ids);
  EXPECT_FALSE(servers->candidate.ids);
  EXPECT_FALSE(servers->give_ids());
  EXPECT_TRUE(servers->candidate.logprobs);
  EXPECT_THAT(servers->candidate.words(), HasSubstr("no token ids come from there"));
  EXPECT_EQ(common_unit(*servers), Unit::logprob_token);
  const BytesPlan plan{.prompts = {"hey"}, .seeds = {1}, .temperatures = {0.0F}, .tokens_max = 3};
  const auto compared = compare_bytes({*servers, 1}, plan);
  ASSERT_TRUE(compared) << compared.error().message;
  EXPECT_TRUE(compared->differences.empty()) << "the same text";
}

TEST(VerifySide, CannotBeSwitchedIfItIsNoSlipstream) {
  Parrot parrot;
  const auto servers = probe_switched({parrot.url(), ""}, {});
  ASSERT_FALSE(servers);
  EXPECT_THAT(servers.error().message, HasSubstr("give two servers"));
}

TEST(VerifySide, SaysWhoseAnswerFailedAndWhy) {
  Parrot parrot;
  const auto server = probe({parrot.url(), ""});
  ASSERT_TRUE(server);
  parrot.refuses = true;
  http::Client client = connect(*server);
  const auto answer = ask(client, *server, {"hey", 5, 0.5F, 3});
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr(parrot.url()));
  EXPECT_THAT(answer.error().message, HasSubstr("too many at once"));
}

// Whose folder of logs that is, only the server knows.
TEST(VerifySide, SendsNobodyToAFolderOfItsOwnWhenAStreamBreaksOff) {
  Parrot parrot;
  const auto server = probe({parrot.url(), ""});
  ASSERT_TRUE(server);
  parrot.breaks_off = true;
  http::Client client = connect(*server);
  const auto answer = ask(client, *server, {"hey", 5, 0.5F, 3});
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("the stream ended before the answer did; the server's logs say why"));
  EXPECT_THAT(answer.error().message, Not(HasSubstr(".run")));
}

TEST(QuestionPool, DoesEachTaskOnceOverConnectionsThatItKeeps) {
  Parrot parrot;
  const auto server = probe({parrot.url(), ""});
  ASSERT_TRUE(server);
  const ServerPair servers{*server, *server};
  std::mutex mutex;
  std::set<size_t> done;
  std::atomic<uint64_t> connections = 0;
  Progress progress("", 0);
  const auto ran = QuestionPool{servers, 4}.run(200, progress, [&](ClientPair& clients, size_t at) -> Result<void> {
    TRY_VOID(ask(clients.reference, servers.reference, {"hey", 1, 1.0F, 3}));
    connections = std::max(connections.load(), parrot.connections());
    std::lock_guard lock(mutex);
    EXPECT_TRUE(done.insert(at).second);
    return {};
  });
  EXPECT_TRUE(ran);
  EXPECT_EQ(done.size(), 200U);
  EXPECT_LE(connections, 4U + 1) << "four streams, and who was met first may still be closing";
}

TEST(Samples, HaveEachASeedOfItsOwnOnBothSides) {
  Parrot parrot;
  const auto server = probe({parrot.url(), ""});
  ASSERT_TRUE(server);
  const ServerPair servers{*server, *server};
  const auto samples =
      draw_samples({servers, 4}, {.prompt = "hey", .temperature = 1, .samples = 100, .positions = 2}, Unit::character);
  ASSERT_TRUE(samples) << samples.error().message;
  EXPECT_EQ(parrot.different_requests(), 200U) << "nothing else tells one request from another";
  EXPECT_EQ(samples->reference.size(), 100U);
  EXPECT_THAT(samples->candidate[99].units, testing::ElementsAre("h", "e"));
}

// Else no tree would be deeper than one node where it is looked at.
TEST(Samples, AskForMoreTokensThanAreCompared) {
  Parrot parrot;
  const auto server = probe({parrot.url(), ""});
  ASSERT_TRUE(server);
  const ServerPair servers{*server, *server};
  ASSERT_TRUE(draw_samples({servers, 1},
                           {.prompt = "hey", .temperature = 1, .samples = 1, .positions = 2, .first_seed = 4'000'000},
                           Unit::character));
  const auto asked = nlohmann::json::parse(parrot.last());
  EXPECT_EQ(asked["max_tokens"], 2 + kDraftRoom);
  EXPECT_EQ(asked["seed"], 4'000'001) << "the candidate's";
}

TEST(Samples, KeepWhatEachAnswerDeclaresAndAskForIt) {
  Parrot parrot;
  parrot.owner = "slipstream";
  const auto plan = [](bool declares) {
    return SamplePlan{.prompt = "hey", .temperature = 1, .samples = 10, .positions = 2, .declares = declares};
  };
  const auto server = probe({parrot.url(), ""});
  ASSERT_TRUE(server);
  const ServerPair servers{*server, *server};
  EXPECT_TRUE(draw_samples({servers, 2}, plan(false), Unit::character)->declared.empty());
  const auto silent = draw_samples({servers, 2}, plan(true), Unit::character);
  ASSERT_FALSE(silent);
  EXPECT_THAT(silent.error().message, HasSubstr("does not say what bias it spent"));

  Parrot honest;
  honest.owner = "slipstream";
  honest.usage = R"({"choices": [], "slipstream": {"speculation": {"rule": "pareto", "bias_spent": 0.25}}})";
  const auto other = probe({honest.url(), ""});
  ASSERT_TRUE(other);
  const ServerPair pair{*other, *other};
  const auto samples = draw_samples({pair, 2}, plan(true), Unit::character);
  ASSERT_TRUE(samples) << samples.error().message;
  EXPECT_EQ(samples->declared, std::vector<double>(10, 0.25));
}

TEST(Servers, SayWhereWordsMayDiffer) {
  for (const auto& [told, may] :
       {std::pair{R"({"rule": "coupled", "near_ties": 2})", true},
        std::pair{R"({"rule": "coupled", "may_differ": true})", true}, std::pair{R"({"rule": "coupled"})", false}}) {
    Parrot parrot;
    parrot.owner = "slipstream";
    parrot.usage = fmt::format(R"({{"choices": [], "slipstream": {{"speculation": {}}}}})", told);
    const auto server = probe({parrot.url(), ""});
    ASSERT_TRUE(server);
    http::Client client = connect(*server);
    const auto answer = ask(client, *server, {"hey", 1, 0, 4});
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->may_differ, may) << told;
  }
}

TEST(QuestionPool, EndsAtTheFirstErrorAndTellsIt) {
  Parrot parrot;
  const auto server = probe({parrot.url(), ""});
  ASSERT_TRUE(server);
  const ServerPair servers{*server, *server};
  std::atomic<int> begun = 0;
  Progress progress("", 0);
  const auto ran = QuestionPool{servers, 1}.run(1000, progress, [&](ClientPair&, size_t at) -> Result<void> {
    ++begun;
    if (at == 3) return fail("the fourth is broken");
    return {};
  });
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().message, "the fourth is broken");
  EXPECT_EQ(begun, 4);
}

}  // namespace
}  // namespace slipstream::command::verify
