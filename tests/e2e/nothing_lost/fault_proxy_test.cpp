// Bad networks between real processes. On every boundary a fault proxy (faults/) loses 5 % of
// all messages, doubles 5 %, delays 5 % so that others overtake them, stops everything for 50 ms
// now and then, and cuts connections. Every answer must have the words that it has without
// drafts. NetworkFaultsLong passes as many messages as eight streams make in an hour (`make
// check`); NetworkFaults passes a few.
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "tests/e2e/support/load.h"

namespace slipstream::e2e {
namespace {

using std::chrono::seconds;

constexpr int kTokens = 150;
// What eight streams of the 135M chat model with look-up drafts make in an hour: 1,500 messages a
// second on all boundaries together, with two threads of a machine with AVX-512 BF16 (2026-11-21:
// 8,196 messages in 5.4 s).
constexpr uint64_t kHourMessages = 5'400'000;
constexpr uint64_t kEnoughMessages = 2000;  // enough that each kind of fault happens
constexpr std::chrono::milliseconds kLook{200};
constexpr seconds kStuck{20};  // time without one more right answer

const Cluster::Flags kFaults{"--loss", "0.05",    "--duplicate", "0.05",       "--reorder", "0.05",          "--reorder-ms",
                             "10",     "--spike", "0.001",       "--spike-ms", "50",        "--cut-every-s", "4"};

std::vector<std::string> plain_answers(const std::vector<Question>& questions) {
  Cluster peace(tiny_model());
  peace.start_all("none");
  return learn_answers(peace, questions);
}

class BadNetwork {
 public:
  // Two verifiers and two drafters at one router, and a proxy before each process that binds.
  BadNetwork() {
    for (const std::string before : {"router", "drafter", "drafter-2"}) {
      Cluster::Flags faults = kFaults;
      faults.insert(faults.end(), {"--seed", std::to_string(proxied_.size() + 1)});
      cluster_.start_proxy(before, std::move(faults));
      proxied_.push_back(before);
    }
    cluster_.start_router({"--deadline-us", "5000"});
    for (const char* name : {"verifier", "verifier-2"}) cluster_.start_verifier(verify_every_draft({"--threads", "1"}), name);
    cluster_.start_scripted("oracle");  // it learns the answers that it hears, so most of its drafts are right
    cluster_.start_drafter({}, "drafter-2");
    for (const char* name : {"verifier", "verifier-2", "drafter", "drafter-2"}) cluster_.wait_ports(name);
    cluster_.wait_ready();
  }

  // copies: the number of streams that ask each of the eight questions.
  void pass(uint64_t messages, int copies) {
    const std::vector<Question> eight = eight_questions(kTokens);
    const std::vector<std::string> answers_to_eight = plain_answers(eight);
    std::vector<Question> questions;
    std::vector<std::string> expected;
    for (int i = 0; i < copies; ++i) {
      questions.insert(questions.end(), eight.begin(), eight.end());
      expected.insert(expected.end(), answers_to_eight.begin(), answers_to_eight.end());
    }
    LoadReport report;
    faults::Tally tally;
    {
      Load load(cluster_, questions, {"router"}, expected);
      int answers = 0;
      auto newest = std::chrono::steady_clock::now();
      bool stuck = false;
      while (tally.sum().messages < messages && !stuck) {
        std::this_thread::sleep_for(kLook);
        tally = sum();
        if (std::exchange(answers, load.answers()) != load.answers()) newest = std::chrono::steady_clock::now();
        stuck = std::chrono::steady_clock::now() - newest > kStuck;
      }
      EXPECT_FALSE(stuck) << "no right answer any more";
      report = load.report();
    }
    print(tally, report);
    EXPECT_TRUE(report.wrong.empty()) << fmt::format("{}", fmt::join(report.wrong, "\n"));
    EXPECT_TRUE(report.errors.empty()) << fmt::format("{}", fmt::join(report.errors, "\n"));
    EXPECT_GT(report.answers, 0);
    EXPECT_GT(accepted(), 0);
    expect_all_faults(tally);
    expect_nothing_malformed();
    expect_nothing_left();
  }

 private:
  faults::Tally sum() {
    faults::Tally sum;
    for (const std::string& before : proxied_) sum += cluster_.tally(before);
    return sum;
  }

  double accepted() const {
    double sum = 0;
    for (const char* verifier : {"verifier", "verifier-2"})
      sum += cluster_.metrics(verifier).sum(metric::kVerifierNodes.name, {R"(fate="accepted")"});
    return sum;
  }

  void print(const faults::Tally& tally, const LoadReport& report) const {
    fmt::print("{:<10} {:<12} {:>9} {:>8} {:>8} {:>9} {:>8} {:>8}\n", "boundary", "direction", "messages", "lost", "doubled",
               "overtaken", "spikes", "delayed");
    const auto row = [](const char* boundary, const char* direction, const faults::Counts& c) {
      fmt::print("{:<10} {:<12} {:>9} {:>8} {:>8} {:>9} {:>8} {:>8}\n", boundary, direction, c.messages, c.lost, c.doubled,
                 c.overtaken, c.spikes, c.delayed);
    };
    each(tally, row);
    row("all", "both", tally.sum());
    fmt::print("{} connections, {} cut; {} answers, {} changed, {} cut off; longest pause {:.0f} ms; {:.0f} drafted tokens\n",
               tally.connections, tally.cuts, report.answers, report.wrong.size(), report.cut, report.longest_pause_s * 1000,
               accepted());
    std::fflush(stdout);
  }

  static void expect_all_faults(const faults::Tally& tally) {
    each(tally, [](const char* boundary, const char* direction, const faults::Counts& counts) {
      SCOPED_TRACE(fmt::format("{} {}", boundary, direction));
      EXPECT_GT(counts.lost, 0U);
      EXPECT_GT(counts.doubled, 0U);
      if (counts.messages < kEnoughMessages) return;
      EXPECT_GT(counts.overtaken, 0U);
      EXPECT_GT(counts.delayed, 0U);
    });
    EXPECT_GT(tally.sum().spikes, 0U);
    EXPECT_GT(tally.cuts, 0U);
    EXPECT_EQ(tally.strange, 0U);
  }

  // A message may be late, doubled or lost, but what arrives is whole.
  void expect_nothing_malformed() {
    const std::vector<std::string> malformed{R"(kind="malformed")"};
    EXPECT_EQ(cluster_.metrics("router").sum(metric::kRouterPeerFaults.name, malformed), 0);
    for (const char* name : {"verifier", "verifier-2"})
      EXPECT_EQ(cluster_.metrics(name).sum(metric::kVerifierPeerFaults.name, malformed), 0);
    EXPECT_EQ(cluster_.metrics("drafter-2").sum(metric::kDrafterPeerFaults.name, malformed), 0);
  }

  // A lost message must not keep a sequence alive: no request is left, so no process may hold a
  // sequence.
  void expect_nothing_left() {
    for (const std::string verifier : {"verifier", "verifier-2"}) {
      cluster_.wait(verifier + " to end its sequences",
                    [&] { return cluster_.metrics(verifier).sum(metric::kVerifierSequencesLive.name) == 0; });
    }
    EXPECT_EQ(cluster_.metrics("router").sum(metric::kRouterLive.name), 0);
  }

  static void each(const faults::Tally& tally, const auto& f) {
    using faults::Direction;
    for (const auto& [boundary, name] :
         {std::pair{Boundary::control, "control"}, {Boundary::generate, "generate"}, {Boundary::draft, "draft"}}) {
      f(name, "to bound", tally.at(boundary, Direction::to_upstream));
      f(name, "from bound", tally.at(boundary, Direction::to_client));
    }
  }

  std::vector<std::string> proxied_;
  Cluster cluster_{tiny_model()};
};

TEST(NetworkFaults, ChangeNoWord) { BadNetwork().pass(100'000, 1); }

TEST(NetworkFaultsLong, ChangeNoWordInAnHoursTraffic) { BadNetwork().pass(kHourMessages, 4); }

}  // namespace
}  // namespace slipstream::e2e
