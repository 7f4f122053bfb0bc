#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <mutex>
#include <utility>
#include <vector>

#include "tools/slipstream/commands.h"
#include "tools/slipstream/terminal.h"
#include "tools/slipstream/tty.h"

namespace slipstream::command {
namespace {

constexpr int kAnswerTokensMax = 128;
constexpr size_t kKillAfterTokens = 32;
constexpr std::chrono::seconds kBackMax{20};  // longest wait for the drafter to join again

constexpr std::string_view kEdit =
    "Proofread this paragraph and write it out again: The morning ferry leaves the harbour at seven. Most of the people on the "
    "ferry "
    "know each other by name and the captain of the ferry knows them all. In winter the ferry is often late because ice forms "
    "in the "
    "harbour and then the people wait in the small cafe by the water until the ferry comes.";
constexpr std::string_view kStory = "Tell me a short story about a lighthouse keeper who finds a letter in a bottle.";

// Holds the supervisor's lines back while an answer streams, and prints them after it.
class Remarks {
 public:
  void add(std::string_view line) {
    std::lock_guard lock(mutex_);
    lines_.emplace_back(line);
  }
  void print(const Palette& palette) {
    std::lock_guard lock(mutex_);
    for (const std::string& line : lines_) fmt::print("{}\n", palette.aside("  " + line));
    lines_.clear();
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> lines_;
};

class Demo {
 public:
  Demo(Fleet& fleet, StopSignal& stop, Remarks& remarks, Palette palette)
      : fleet_(fleet),
        stop_(stop),
        remarks_(remarks),
        palette_(palette),
        client_("127.0.0.1", fleet.http_port(), kAnswerTimeout) {}

  Result<bool> run(const std::vector<std::pair<std::string, std::string>>& questions) {
    TRY(const ServedModel served, served_model(client_));
    model_ = served.name;
    if (fleet_.drafts()) TRY_VOID(drafter_joins());
    fmt::print("\n{}", palette_.legend(terminal_size().columns));
    std::vector<Comparison> comparisons;
    for (size_t i = 0; i < questions.size(); ++i) {
      const auto& [name, text] = questions[i];
      bool killed = false;
      TRY(Answer drafted, answer(text, i == 0 && fleet_.drafts() ? &killed : nullptr));
      comparisons.push_back({name, std::move(drafted), {}, {}});
      if (i == 0 && fleet_.drafts() && !killed) {
        fmt::print("{}\n", palette_.aside(fmt::format(
                               "[the drafter would have been killed after {} tokens; this answer is too short for that]",
                               kKillAfterTokens)));
      }
      if (!killed) continue;
      TRY_VOID(drafter_joins());
      // The killed answer is compared but not timed; the question is asked again, with drafts, for
      // the table.
      comparisons.back().drafter_lost = std::exchange(comparisons.back().drafted, {});
    }
    const bool died = std::ranges::any_of(comparisons, [](const Comparison& c) { return c.drafter_lost.has_value(); });
    fmt::print("{}\n", palette_.aside(died ? "To compare, each question is asked again (not shown) without drafts, and the one "
                                             "whose drafter was killed also with drafts."
                                           : "To compare, the same is asked again (not shown) without drafts."));
    std::fflush(stdout);
    for (size_t i = 0; i < questions.size(); ++i) {
      const std::string& text = questions[i].second;
      if (comparisons[i].drafter_lost) {
        TRY(comparisons[i].drafted, ask_unless_stopped(question(text, true), [](const Piece&) {}));
      }
      TRY(comparisons[i].plain, ask_unless_stopped(question(text, false), [](const Piece&) {}));
    }
    fmt::print("\n{}\n{}\n", table(comparisons), verdict(comparisons));
    std::fflush(stdout);
    return same_words(comparisons);
  }

 private:
  static Question question(const std::string& text, bool speculate) {
    Question question;
    question.text = text;
    question.tokens_max = kAnswerTokensMax;
    question.speculate = speculate;
    return question;
  }

  // Streams one answer. If `killed` is not null, kills the drafter on the way and sets *killed if
  // the answer was long enough for that.
  Result<Answer> answer(const std::string& text, bool* killed) {
    fmt::print("\n> {}\n\n", text);
    size_t tokens = 0;
    auto streamed = ask_unless_stopped(question(text, true), [&](const Piece& piece) {
      fmt::print("{}", palette_.paint(piece));
      if (killed != nullptr && ++tokens == kKillAfterTokens) *killed = kill_drafter();
      std::fflush(stdout);
    });
    const bool cut = streamed && streamed->finish == "length";
    fmt::print("{}\n\n", cut ? palette_.aside(fmt::format(" [{} tokens, the demo's limit]", kAnswerTokensMax)) : "");
    remarks_.print(palette_);
    return streamed;
  }

  Result<Answer> ask_unless_stopped(const Question& question, const std::function<void(const Piece&)>& show) {
    const auto stopped = [this] { return stop_.arrived(std::chrono::milliseconds(0)); };
    if (stopped()) return fail("stopped");
    auto answer = ask(client_, model_, question, [&](const Piece& piece) {
      show(piece);
      return !stopped();
    });
    if (stopped()) return fail("stopped");
    // A stop during the answer also ends it with an error; report the stop, not that error.
    if (!answer) return fail("{}{}", answer.error().message, fleet_.log_tails());
    return answer;
  }

  bool kill_drafter() {
    const pid_t pid = fleet_.supervisor().life("drafter").pid;
    fleet_.supervisor().signal("drafter", SIGKILL);
    fmt::print("\n{}\n", palette_.aside(fmt::format("[kill -9 {}: that was the drafter; the answer goes on]", pid)));
    return true;
  }

  Result<void> drafter_joins() {
    const auto deadline = std::chrono::steady_clock::now() + kBackMax;
    while (!fleet_.drafter_joined()) {
      if (stop_.arrived(std::chrono::milliseconds(20))) return fail("stopped");
      if (std::chrono::steady_clock::now() > deadline) {
        return fail("the drafter did not join within {} s{}", kBackMax.count(), fleet_.log_tails());
      }
    }
    remarks_.print(palette_);
    return {};
  }

  Fleet& fleet_;
  StopSignal& stop_;
  Remarks& remarks_;
  Palette palette_;
  http::Client client_;
  std::string model_;
};

}  // namespace

Result<bool> demo(DemoOptions options, StopSignal& stop) {
  TRY(options.fleet.model, find_model(options.fleet.model));
  Remarks remarks;
  const auto started = std::chrono::steady_clock::now();
  fmt::print("Starting router, verifier and drafter (logs in {}) ...\n", (options.fleet.run_folder / "logs").string());
  std::fflush(stdout);
  TRY(auto fleet, Fleet::launch(options.fleet, stop, [&](std::string_view line) { remarks.add(line); }));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
  fmt::print("Ready after {:.1f} s at {}. {}.\n", took.count(), fleet->url(), fleet->cpus().words());

  std::vector<std::pair<std::string, std::string>> questions{{"tell a story", std::string(kStory)},
                                                             {"edit a text", std::string(kEdit)}};
  if (!options.ask.empty()) questions = {{"your question", options.ask}};
  TRY(const bool same, Demo(*fleet, stop, remarks, Palette::of_terminal(options.plain)).run(questions));
  const std::filesystem::path near = std::filesystem::proximate(this_program());
  const std::string command = near.string().starts_with("..") ? this_program().string() : near.string();
  fmt::print(
      "\nNext:\n"
      "  make demo ASK='Write a haiku about rivers.'\n"
      "  {0} serve\n"
      "  {0} ask 'Why is the sky blue?'\n",
      command);
  return same;
}

}  // namespace slipstream::command
