// Sides, crew and draws, over real HTTP to a small server that is no Slipstream.
#include "tools/slipstream/verify/side.h"

#include <atomic>
#include <mutex>
#include <set>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "common/http/server.h"
#include "tools/slipstream/verify/bytes.h"
#include "tools/slipstream/verify/crew.h"
#include "tools/slipstream/verify/draws.h"

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
            [](int status, std::string_view message) {
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
  const auto side = meet({parrot.url(), ""});
  ASSERT_TRUE(side) << side.error().message;
  EXPECT_EQ(side->model.name, "parrot");
  EXPECT_FALSE(side->slipstream());
  http::Client client = connect(*side);
  const auto answer = ask(client, *side, {"say hey", 5, 0.5F, 3}, true);
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
  const auto sides = meet_two({parrot.url(), ""}, {parrot.url(), "another"});
  ASSERT_TRUE(sides) << sides.error().message;
  EXPECT_TRUE(sides->reference.logprobs);
  EXPECT_EQ(sides->candidate.model.name, "another");
  parrot.refuses = true;
  EXPECT_FALSE(meet_two({parrot.url(), ""}, {parrot.url(), ""})->candidate.logprobs);
}

// What both are asked with, and what the candidate alone is.
TEST(VerifySide, AsksWithTheFieldsThatTheUserGave) {
  Parrot parrot;
  parrot.owner = "slipstream";
  parrot.ids = true;
  auto sides = meet_switched({parrot.url(), ""}, {.rule = "batch", .siblings = 3});
  ASSERT_TRUE(sides) << sides.error().message;
  sides->reference.habit.more = sides->candidate.habit.more = R"({"top_p":0.9})";
  const auto asked = [&](const Side& side) {
    http::Client client = connect(side);
    (void)ask(client, side, {"hey", 5, 0.5F, 3});
    return nlohmann::json::parse(parrot.last());
  };
  const nlohmann::json reference = asked(sides->reference), candidate = asked(sides->candidate);
  EXPECT_EQ(reference["speculation"], nlohmann::json::parse(R"({"enabled": false})"));
  EXPECT_EQ(candidate["speculation"], nlohmann::json::parse(R"({"enabled": true, "rule": "batch", "siblings": 3})"));
  EXPECT_EQ(reference["top_p"], 0.9);
  EXPECT_EQ(candidate["top_p"], 0.9);
  EXPECT_THAT(sides->candidate.words(), testing::EndsWith("rule batch {\"siblings\":3}"));
}

TEST(VerifySide, SaysWhyAnotherRuleRan) {
  Parrot parrot;
  parrot.owner = "slipstream";
  parrot.usage = R"({"choices": [], "slipstream": {"speculation": {"rule": "coupled", "asked": "ratio",
                     "reason": "no_trusted_drafter"}}})";
  const auto sides = meet_switched({parrot.url(), ""}, {.rule = "ratio"});
  ASSERT_TRUE(sides);
  http::Client client = connect(sides->candidate);
  const auto answer = ask(client, sides->candidate, {"hey", 5, 0.5F, 3});
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message,
              HasSubstr("ran the rule coupled where ratio was asked for; its reason: no_trusted_drafter"));
}

TEST(VerifySide, InventsNoReasonForAnotherRule) {
  Parrot parrot;
  parrot.owner = "slipstream";
  parrot.usage = R"({"choices": [], "slipstream": {"speculation": {"rule": "block"}}})";
  const auto sides = meet_switched({parrot.url(), ""}, {.rule = "traversal", .siblings = 1});
  ASSERT_TRUE(sides);
  http::Client client = connect(sides->candidate);
  const auto answer = ask(client, sides->candidate, {"hey", 5, 0.5F, 3});
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message,
              testing::EndsWith("ran the rule block where traversal was asked for; it does not say why"));
}

// A gateway that keeps what the standard knows: the other side's ids have nothing to be compared with.
TEST(VerifySide, GivesIdsOnlyIfTheyCome) {
  Parrot whole, bare;
  whole.owner = bare.owner = "slipstream";
  whole.ids = true;
  const auto sides = meet_two({whole.url(), ""}, {bare.url(), ""});
  ASSERT_TRUE(sides) << sides.error().message;
  EXPECT_TRUE(sides->reference.ids);
  EXPECT_FALSE(sides->candidate.ids);
  EXPECT_FALSE(sides->give_ids());
  EXPECT_TRUE(sides->candidate.logprobs);
  EXPECT_THAT(sides->candidate.words(), HasSubstr("no token ids come from there"));
  EXPECT_EQ(common_unit(*sides), Unit::logprob_token);
  const BytesPlan plan{.prompts = {"hey"}, .seeds = {1}, .temperatures = {0.0F}, .tokens_max = 3};
  const auto compared = compare_bytes({*sides, 1}, plan);
  ASSERT_TRUE(compared) << compared.error().message;
  EXPECT_TRUE(compared->differences.empty()) << "the same text";
}

TEST(VerifySide, CannotBeSwitchedIfItIsNoSlipstream) {
  Parrot parrot;
  const auto sides = meet_switched({parrot.url(), ""}, {});
  ASSERT_FALSE(sides);
  EXPECT_THAT(sides.error().message, HasSubstr("give two servers"));
}

TEST(VerifySide, SaysWhoseAnswerFailedAndWhy) {
  Parrot parrot;
  const auto side = meet({parrot.url(), ""});
  ASSERT_TRUE(side);
  parrot.refuses = true;
  http::Client client = connect(*side);
  const auto answer = ask(client, *side, {"hey", 5, 0.5F, 3});
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr(parrot.url()));
  EXPECT_THAT(answer.error().message, HasSubstr("too many at once"));
}

// Whose folder of logs that is, only the server knows.
TEST(VerifySide, SendsNobodyToAFolderOfItsOwnWhenAStreamBreaksOff) {
  Parrot parrot;
  const auto side = meet({parrot.url(), ""});
  ASSERT_TRUE(side);
  parrot.breaks_off = true;
  http::Client client = connect(*side);
  const auto answer = ask(client, *side, {"hey", 5, 0.5F, 3});
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("the stream ended before the answer did; the server's logs say why"));
  EXPECT_THAT(answer.error().message, Not(HasSubstr(".run")));
}

TEST(Crew, DoesEachTaskOnceOverConnectionsThatItKeeps) {
  Parrot parrot;
  const auto side = meet({parrot.url(), ""});
  ASSERT_TRUE(side);
  const Sides sides{*side, *side};
  std::mutex mutex;
  std::set<size_t> done;
  std::atomic<uint64_t> connections = 0;
  Progress progress("", 0);
  const auto ran = Crew{sides, 4}.run(200, progress, [&](Lines& lines, size_t at) -> Result<void> {
    TRY_VOID(ask(lines.reference, sides.reference, {"hey", 1, 1.0F, 3}));
    connections = std::max(connections.load(), parrot.connections());
    std::lock_guard lock(mutex);
    EXPECT_TRUE(done.insert(at).second);
    return {};
  });
  EXPECT_TRUE(ran);
  EXPECT_EQ(done.size(), 200U);
  EXPECT_LE(connections, 4U + 1) << "four streams, and who was met first may still be closing";
}

TEST(Draws, HaveEachASeedOfItsOwnOnBothSides) {
  Parrot parrot;
  const auto side = meet({parrot.url(), ""});
  ASSERT_TRUE(side);
  const Sides sides{*side, *side};
  const auto draws = draw({sides, 4}, {.prompt = "hey", .temperature = 1, .samples = 100, .positions = 2}, Unit::character);
  ASSERT_TRUE(draws) << draws.error().message;
  EXPECT_EQ(parrot.different_requests(), 200U) << "nothing else tells one request from another";
  EXPECT_EQ(draws->reference.size(), 100U);
  EXPECT_THAT(draws->candidate[99].units, testing::ElementsAre("h", "e"));
}

// Else no tree would be deeper than one node where it is looked at.
TEST(Draws, AskForMoreTokensThanAreCompared) {
  Parrot parrot;
  const auto side = meet({parrot.url(), ""});
  ASSERT_TRUE(side);
  const Sides sides{*side, *side};
  ASSERT_TRUE(draw({sides, 1}, {.prompt = "hey", .temperature = 1, .samples = 1, .positions = 2, .first_seed = 4'000'000},
                   Unit::character));
  const auto asked = nlohmann::json::parse(parrot.last());
  EXPECT_EQ(asked["max_tokens"], 2 + kDraftRoom);
  EXPECT_EQ(asked["seed"], 4'000'001) << "the candidate's";
}

TEST(Draws, KeepWhatEachAnswerDeclaresAndAskForIt) {
  Parrot parrot;
  parrot.owner = "slipstream";
  const auto plan = [](bool declares) {
    return DrawPlan{.prompt = "hey", .temperature = 1, .samples = 10, .positions = 2, .declares = declares};
  };
  const auto side = meet({parrot.url(), ""});
  ASSERT_TRUE(side);
  const Sides sides{*side, *side};
  EXPECT_TRUE(draw({sides, 2}, plan(false), Unit::character)->declared.empty());
  const auto silent = draw({sides, 2}, plan(true), Unit::character);
  ASSERT_FALSE(silent);
  EXPECT_THAT(silent.error().message, HasSubstr("does not say what bias it spent"));

  Parrot honest;
  honest.owner = "slipstream";
  honest.usage = R"({"choices": [], "slipstream": {"speculation": {"rule": "pareto", "bias_spent": 0.25}}})";
  const auto other = meet({honest.url(), ""});
  ASSERT_TRUE(other);
  const Sides pair{*other, *other};
  const auto draws = draw({pair, 2}, plan(true), Unit::character);
  ASSERT_TRUE(draws) << draws.error().message;
  EXPECT_EQ(draws->declared, std::vector<double>(10, 0.25));
}

TEST(Crew, EndsAtTheFirstErrorAndTellsIt) {
  Parrot parrot;
  const auto side = meet({parrot.url(), ""});
  ASSERT_TRUE(side);
  const Sides sides{*side, *side};
  std::atomic<int> begun = 0;
  Progress progress("", 0);
  const auto ran = Crew{sides, 1}.run(1000, progress, [&](Lines&, size_t at) -> Result<void> {
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
