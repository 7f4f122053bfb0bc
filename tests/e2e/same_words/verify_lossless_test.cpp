// The real `verify-lossless` against real processes: it finds nothing in a sound cluster, and it
// finds each planted fault. Seeds are fixed and the model's arithmetic is exact, so each test
// passes always or never. Alpha and power matter on the day that weights or seeds change.
#include <algorithm>
#include <atomic>
#include <fstream>
#include <mutex>
#include <sstream>

#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "common/base/names.h"
#include "tests/data/noisy_model.h"
#include "tests/e2e/support/cluster.h"
#include "tests/e2e/support/exact_distribution.h"
#include "tests/e2e/support/front.h"
#include "tests/e2e/support/prompt_ids.h"
#include "tools/statistics/chi_square_distribution.h"

namespace slipstream::e2e {
namespace {

using nlohmann::json;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kWords = "hello";
constexpr double kAlpha = 1e-6;    // false alarm rate of a whole run
constexpr double kPlanted = 0.02;  // one answer in fifty
constexpr int kSamples = 8000;     // a side

std::string contents(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

struct Outcome {
  int status = -1;
  std::string said, markdown, html;
};

Outcome verify(const Cluster& cluster, std::vector<std::string> arguments, int streams = 32) {
  const auto folder = cluster.folder();
  std::ofstream(folder / "prompts") << kWords << "\nabc abc abc\n";
  arguments.insert(arguments.begin(), "verify-lossless");
  arguments.insert(arguments.end(), {"--prompts", (folder / "prompts").string(), "--streams", std::to_string(streams),
                                     "--alpha", fmt::format("{}", kAlpha), "--report", (folder / "report").string()});
  const std::filesystem::path build = SLIPSTREAM_BUILD_FOLDER;
  auto process = Process::start({build / "tools/slipstream/slipstream", arguments, {}, folder / "said"});
  if (!process) throw std::runtime_error(process.error().message);
  const auto exit = process->wait(kWaitMax);
  return {exit ? exit->status : -1, contents(folder / "said"), contents(folder / "report.md"),
          contents(folder / "report.html")};
}

std::string url(const Cluster& cluster) { return fmt::format("http://127.0.0.1:{}", cluster.http_port()); }

bool speculates(const json& request) { return request["speculation"]["enabled"].get<bool>(); }

// The rarest first token after kWords that is a letter: the tiny model's ids 4 to 29.
struct Letter {
  TokenId id;
  std::string text;
};
Letter rarest_letter(const ExactDistribution& distribution) {
  const auto letters = distribution.after({}).subspan(4, 26);
  const auto at = std::ranges::min_element(letters) - letters.begin();
  return {static_cast<TokenId>(4 + at), std::string(1, static_cast<char>('a' + at))};
}

// The chance that one test finds the error. Two samples of n have noncentrality n/2 sum of
// (p - q)^2 / mean, and there are at most as many cells as tokens.
double power_of_the_test(const ExactDistribution& distribution, TokenId instead) {
  double noncentrality = 0;
  for (size_t id = 0; id < distribution.after({}).size(); ++id) {
    const double p = distribution.after({})[id], q = (1 - kPlanted) * p + (id == static_cast<size_t>(instead) ? kPlanted : 0);
    noncentrality += kSamples / 2.0 * (p - q) * (p - q) / ((p + q) / 2);
  }
  const int degrees = static_cast<int>(distribution.candidates().size()) - 1;
  return statistics::noncentral_tail(statistics::critical_value(degrees, kAlpha), degrees, noncentrality);
}

// The planted bug: one speculated answer in fifty gets another first token.
Front::Change say_instead(const Letter& letter) {
  return [letter](json& event) {
    if (!event.contains("slipstream") || !event["slipstream"].contains("token_ids")) return;
    event["slipstream"]["token_ids"][0] = letter.id;
    event["slipstream"]["pieces"][0] = letter.text;
    event["choices"][0]["delta"]["content"] = letter.text;
  };
}

TEST(VerifyLossless, FindsNothingWrongWithARealCluster) {
  Cluster cluster(tiny_model());
  cluster.start_all("random");
  // So wrong a drafter is asked for one sequence at a time, and a tenth of all answers need one.
  const Outcome run = verify(cluster, {"--server", url(cluster), "--samples", "1500"}, 8);
  EXPECT_EQ(run.status, 0) << run.said;
  EXPECT_THAT(run.said, HasSubstr("bytes: 10 answers a side, 0 differ"));
  EXPECT_THAT(run.said, HasSubstr("tokens 2 and 3, jointly"));
  EXPECT_THAT(run.said, HasSubstr("To find 1 % so"));
  EXPECT_THAT(run.markdown, HasSubstr("The same, as far as this run can tell."));
  EXPECT_THAT(run.html, HasSubstr("<svg"));
  EXPECT_THAT(run.html, Not(HasSubstr("src="))) << "the page must need nothing else";
}

TEST(VerifyLossless, FindsTheSameWordsUnderASchema) {
  Cluster cluster(tiny_model());
  cluster.start_all("random");
  const auto schema = cluster.folder() / "schema.json";
  std::ofstream(schema) << R"({"enum": [1234567, 1282828, 70000001, 8]})";
  std::mutex mutex;
  std::vector<std::string> texts;  // of the candidate's answers
  Front front(cluster.http_port(), [&](const json& request) -> Front::Change {
    if (!request.contains("response_format")) return {};  // a probe
    EXPECT_EQ(request["response_format"]["json_schema"]["schema"]["enum"].size(), 4);
    if (!speculates(request)) return {};
    std::lock_guard lock(mutex);
    const size_t mine = texts.size();
    texts.emplace_back();
    return [&, mine](json& event) {
      std::lock_guard inner(mutex);
      if (event.contains("choices") && !event["choices"].empty())
        texts[mine] += event["choices"][0]["delta"].value("content", "");
    };
  });
  const Outcome run = verify(cluster, {"--server", front.url(), "--only", "bytes", "--response-format", schema.string()});
  EXPECT_EQ(run.status, 0) << run.said;
  EXPECT_THAT(run.said, HasSubstr("bytes: 10 answers a side, 0 differ"));
  EXPECT_EQ(texts.size(), 10);
  EXPECT_THAT(texts, testing::Each(testing::AnyOf("1234567", "1282828", "70000001", "8")));
}

TEST(VerifyLossless, FindsATokenThatOneAnswerInFiftyGetsByMistake) {
  Cluster cluster(tiny_model());
  cluster.start_all("random");
  const auto distribution = ExactDistribution::of(tiny_model(), prompt_ids(tiny_model(), kWords), 1);
  ASSERT_TRUE(distribution) << distribution.error().message;
  const Letter letter = rarest_letter(*distribution);
  const double power = power_of_the_test(*distribution, letter.id);
  fmt::print("alpha {}; power against TV {:.4f} with {} samples a side: {:.5f}\n", kAlpha,
             kPlanted * (1 - distribution->after({})[static_cast<size_t>(letter.id)]), kSamples, power);
  EXPECT_GE(power, 0.99);

  Front front(cluster.http_port(), [&](const json& request) -> Front::Change {
    const auto seed = request["seed"].get<uint64_t>();
    const bool wrong = speculates(request) && seed / 2 % static_cast<uint64_t>(1 / kPlanted) == 0;
    return wrong ? say_instead(letter) : Front::Change();
  });
  const Outcome run = verify(cluster, {"--server", front.url(), "--only", "distribution", "--temperatures", "1", "--positions",
                                       "1", "--samples", std::to_string(kSamples)});
  EXPECT_EQ(run.status, 1) << run.said;
  EXPECT_THAT(run.said, HasSubstr("the distribution differs (prompt 1, temperature 1, token 1"));
  EXPECT_THAT(run.markdown, HasSubstr(fmt::format("{} \"{}\"", letter.id, letter.text)));
}

TEST(VerifyLossless, FindsOneWrongByte) {
  Cluster cluster(tiny_model());
  cluster.start_all("random");
  Front front(cluster.http_port(), [](const json& request) -> Front::Change {
    if (!speculates(request) || request["seed"] != 2 || request["temperature"] != 1.0) return {};
    return [done = false](json& event) mutable {
      if (done || event["choices"].empty()) return;
      auto& delta = event["choices"][0]["delta"];
      if (!delta.contains("content") || delta["content"].get_ref<const std::string&>().empty()) return;
      std::string text = delta["content"];
      text[0] = text[0] == '#' ? '$' : '#';
      delta["content"] = text;
      done = true;
    };
  });
  const Outcome run = verify(cluster, {"--server", front.url(), "--only", "bytes", "--temperatures", "0,1"});
  EXPECT_EQ(run.status, 1) << run.said;
  EXPECT_THAT(run.said, HasSubstr("2 of 6 answers differ"));
  EXPECT_THAT(run.markdown, HasSubstr("seed 2, temperature 1: text differs at byte"));
}

// A cluster that allows all rules and trusts its drafter: the target with `noise` on its weights.
void start_drawing(Cluster& cluster, float noise) {
  const auto draft_model = noisy_model(tiny_model(), cluster.folder() / "noisy", noise);
  cluster.start_router(
      {"--deadline-us", "1000000", "--trust", "local", "--rules", fmt::format("{}", fmt::join(kRuleNames, ","))});
  cluster.start_verifier(verify_every_draft());
  cluster.start_drafter({"--method", "small-lm", "--draft-model", draft_model.string()});
  cluster.wait_ports("verifier");
  cluster.wait_ready();
  cluster.wait_drafter();
}

TEST(VerifyLossless, LooksWhereTheUserPoints) {
  Cluster cluster(tiny_model());
  start_drawing(cluster, 0.06F);
  std::mutex mutex;
  json reference, candidate;  // a request that each side got
  Front front(cluster.http_port(), [&](const json& request) -> Front::Change {
    std::lock_guard lock(mutex);
    (speculates(request) ? candidate : reference) = request;
    return {};
  });
  const Outcome run = verify(cluster, {"--server",
                                       front.url(),
                                       "--only",
                                       "distribution",
                                       "--temperatures",
                                       "0.8",
                                       "--samples",
                                       "1000",
                                       "--rule",
                                       "ratio",
                                       "--siblings",
                                       "2",
                                       "--nodes",
                                       "6",
                                       "--depth",
                                       "2",
                                       "--drafter",
                                       "small-lm",
                                       "--top-p",
                                       "0.9",
                                       "--top-k",
                                       "40",
                                       "--min-p",
                                       "0.01",
                                       "--repetition-penalty",
                                       "1.2",
                                       "--presence-penalty",
                                       "0.1",
                                       "--frequency-penalty",
                                       "-0.1",
                                       "--fields",
                                       R"({"logit_bias": {"7": 1}})"});
  EXPECT_EQ(run.status, 0) << run.said;
  EXPECT_EQ(candidate["speculation"],
            json::parse(R"({"enabled": true, "rule": "ratio", "siblings": 2, "nodes": 6, "depth": 2, "drafter": "small-lm"})"));
  for (const json& asked : {reference, candidate}) {
    EXPECT_EQ(asked["top_p"], 0.9);
    EXPECT_EQ(asked["top_k"], 40);
    EXPECT_EQ(asked["min_p"], 0.01);
    EXPECT_EQ(asked["repetition_penalty"], 1.2);
    EXPECT_EQ(asked["presence_penalty"], 0.1);
    EXPECT_EQ(asked["frequency_penalty"], -0.1);
    EXPECT_EQ(asked["logit_bias"], json::parse(R"({"7": 1})"));
  }
  EXPECT_THAT(run.markdown, HasSubstr("both asked with"));
  EXPECT_THAT(run.markdown, ContainsRegex("accepted [1-9][0-9]*; [0-9]* of 1000 answers"));
  EXPECT_THAT(run.markdown, ContainsRegex("token 1 +. +0.0 %")) << "it comes with the prompt";
  EXPECT_THAT(run.markdown, ContainsRegex("token 3 +. +[1-9][0-9.]+ %"));
}

TEST(VerifyLossless, HoldsARuleThatDeclaresItsBiasToThat) {
  Cluster cluster(tiny_model());
  start_drawing(cluster, 0.2F);
  // Every draft is accepted, so the bias is the whole variation between target and drafter.
  const std::vector<std::string> how{"--only", "distribution", "--temperatures", "1", "--samples", "2000", "--rule", "uniform"};
  const auto asked = [&](const std::string& server, const char* epsilon) {
    std::vector<std::string> arguments{"--server", server, "--epsilon", epsilon};
    arguments.insert(arguments.end(), how.begin(), how.end());
    return verify(cluster, arguments);
  };
  const Outcome honest = asked(url(cluster), "1");
  EXPECT_EQ(honest.status, 0) << honest.said;
  EXPECT_THAT(honest.said, HasSubstr("Differs by at most what it declares"));
  Front liar(cluster.http_port(), [](const json&) -> Front::Change {
    return [](json& event) {
      if (!event.contains("slipstream")) return;
      for (const char* at : {"", "/speculation"}) {  // of each chunk, and of the answer
        const json::json_pointer spent(fmt::format("/slipstream{}/bias_spent", at));
        if (event.contains(spent)) event[spent] = event[spent].get<double>() / 10;
      }
    };
  });
  const Outcome lied = asked(liar.url(), "1");
  EXPECT_EQ(lied.status, 1) << lied.said;
  EXPECT_THAT(lied.said, HasSubstr("by more than it declares"));
  const Outcome untold = verify(cluster, {"--server", url(cluster), "--rule", "pareto"});
  EXPECT_EQ(untold.status, 2);
  EXPECT_THAT(untold.said, HasSubstr("--rule pareto needs --epsilon"));
  const Outcome first = verify(cluster, {"--server", url(cluster), "--rule", "pareto", "--epsilon", "0.1", "--positions", "1"});
  EXPECT_EQ(first.status, 2);
  EXPECT_THAT(first.said, HasSubstr("drafts nothing for the first token"));
}

TEST(VerifyLossless, AsksStrangersInStandardWordsAndComparesWhatTheySay) {
  Cluster cluster(tiny_model());
  cluster.start_all("ngram");
  std::atomic<int> foreign_fields = 0, as_typed = 0;
  const Front::Plot listen = [&](const json& request) -> Front::Change {
    if (request.contains("slipstream") || request.contains("speculation")) ++foreign_fields;
    if (request.at("temperature") == 0.7) ++as_typed;
    return {};
  };
  Front one(cluster.http_port(), listen, "somebody"), other(cluster.http_port(), listen, "somebody else");
  const Outcome run = verify(cluster, {"--reference", one.url(), "--candidate", other.url(), "--samples", "1000"});
  EXPECT_EQ(run.status, 0) << run.said;
  EXPECT_EQ(foreign_fields, 0);
  EXPECT_GT(as_typed, 0) << "0.7 is no 0.699999988079071";
  EXPECT_THAT(run.said, HasSubstr("bytes: 2 answers a side, 0 differ"));
  EXPECT_THAT(run.said, HasSubstr("tokens 1 and 2, jointly"));
}

// A gateway that passes on the standard's fields only.
TEST(VerifyLossless, ComparesASlipstreamWhoseTokenIdsDoNotComeByWhatItSays) {
  Cluster cluster(tiny_model());
  cluster.start_all("random");
  Front gateway(cluster.http_port(), [](const json&) -> Front::Change {
    return [](json& event) {
      event.erase("slipstream");
      event.erase("metrics");
    };
  });
  const Outcome two =
      verify(cluster, {"--reference", url(cluster), "--candidate", gateway.url(), "--samples", "500", "--seed", "3"});
  EXPECT_EQ(two.status, 0) << two.said;
  EXPECT_THAT(two.said, HasSubstr("no token ids come from there"));
  EXPECT_THAT(two.markdown, HasSubstr("cut by token (from logprobs)"));
  EXPECT_THAT(two.markdown, HasSubstr("3000000 to 3000999 as a distribution"));
  const Outcome one = verify(cluster, {"--server", gateway.url(), "--samples", "0"});
  EXPECT_EQ(one.status, 2) << one.said;
  EXPECT_THAT(one.said, HasSubstr("says how much was drafted"));
}

TEST(VerifyLossless, CannotTellWhereNobodyDraftsOrNobodyListens) {
  Cluster cluster(tiny_model());
  cluster.start_all("none");
  const Outcome idle = verify(cluster, {"--server", url(cluster), "--samples", "0"});
  EXPECT_EQ(idle.status, 2) << idle.said;
  EXPECT_THAT(idle.said, HasSubstr("no drafter guessed anything"));
  const std::string there = url(cluster);
  cluster.kill("router", SIGKILL);
  const Outcome deaf = verify(cluster, {"--server", there});
  EXPECT_EQ(deaf.status, 2) << deaf.said;
  EXPECT_THAT(deaf.said, HasSubstr("is the server running?"));
}

}  // namespace
}  // namespace slipstream::e2e
