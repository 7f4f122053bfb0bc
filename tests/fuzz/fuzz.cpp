// fuzz --target request --runs 1000000 [--seed 1] [--seconds 3600] [--input FILE]
// Gives a target mutated inputs. An input at which the process dies, or which takes longer than
// --slowest-ms, is written to crash-TARGET in the working folder; --input gives it again.
#include <fcntl.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <iterator>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "tests/fuzz/mutator.h"
#include "tests/fuzz/target.h"

namespace slipstream::fuzz {
namespace {

using Clock = std::chrono::steady_clock;

// For the signal handler, which may call little.
std::string newest_input;
std::array<char, 64> crash_file{};

void keep_input(int signal) {
  const int file = ::open(crash_file.data(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file >= 0 && ::write(file, newest_input.data(), newest_input.size()) >= 0) ::close(file);
  ::signal(signal, SIG_DFL);
  ::raise(signal == SIGALRM ? SIGKILL : signal);
}

// On a stack of their own: the usual one may be at its end.
void handle_signals() {
  static std::array<char, 64 * 1024> stack;
  const stack_t own{.ss_sp = stack.data(), .ss_flags = 0, .ss_size = stack.size()};
  ::sigaltstack(&own, nullptr);
  struct sigaction action{};
  action.sa_handler = keep_input;
  action.sa_flags = SA_ONSTACK;
  for (const int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGALRM}) ::sigaction(signal, &action, nullptr);
}

struct Options {
  std::string target, input;
  uint64_t runs = 10'000, seed = 1;
  int seconds = 3600, slowest_ms = 10'000;
};

int run(const Options& options) {
  const std::vector<Target> targets = all_targets();
  const auto target = std::ranges::find(targets, options.target, &Target::name);
  if (target == targets.end()) return fmt::print(stderr, "no target {}\n", options.target), 2;
  fmt::format_to_n(crash_file.begin(), crash_file.size() - 1, "crash-{}", target->name);
  handle_signals();
  if (!options.input.empty()) {
    std::ifstream file(options.input, std::ios::binary);
    target->run(std::string(std::istreambuf_iterator<char>(file), {}));
    return 0;
  }
  Mutator mutator(options.seed, target->corpus, target->words);
  for (const std::string& input : target->corpus) target->run(newest_input = input);
  const auto begin = Clock::now();
  const itimerval limit{.it_interval = {}, .it_value = {.tv_sec = options.slowest_ms / 1000, .tv_usec = 0}};
  Clock::duration slowest{0};
  uint64_t runs = 0;
  for (auto now = begin; runs < options.runs && now - begin < std::chrono::seconds(options.seconds); ++runs) {
    newest_input = mutator.next();
    if (runs % 64 == 0) ::setitimer(ITIMER_REAL, &limit, nullptr);
    target->run(newest_input);
    const auto end = Clock::now();
    slowest = std::max(slowest, end - std::exchange(now, end));
  }
  const std::chrono::duration<double> took = Clock::now() - begin;
  fmt::print("{}: {} runs from seed {}, {:.0f} a second, the slowest took {:.0f} ms\n", target->name, runs, options.seed,
             static_cast<double>(runs) / took.count(), std::chrono::duration<double, std::milli>(slowest).count());
  return 0;
}

}  // namespace
}  // namespace slipstream::fuzz

int main(int argc, char** argv) {
  slipstream::fuzz::Options options;
  CLI::App app("Gives a target mutated inputs");
  app.add_option("--target", options.target, "http, request, template or grammar")->required();
  app.add_option("--runs", options.runs)->capture_default_str();
  app.add_option("--seed", options.seed)->capture_default_str();
  app.add_option("--seconds", options.seconds, "at most")->capture_default_str();
  app.add_option("--slowest-ms", options.slowest_ms, "that 64 runs may take")->capture_default_str();
  app.add_option("--input", options.input, "a file that is given once, as it is");
  CLI11_PARSE(app, argc, argv);
  return slipstream::fuzz::run(options);
}
