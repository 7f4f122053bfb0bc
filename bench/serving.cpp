// Measures what serving costs and what drafts bring, as ratios within one run, with real processes
// on this machine:
//   copy      n-gram drafts / plain decoding, on prompts whose answers repeat them
//   useless   a drafter that sends full trees of nonsense just before each deadline / no drafter
//   wire      router, verifier and drafter as three processes / the same actors in one process (bench/one_process.cpp)
// Both sides of a ratio take turns, prompt by prompt, so that load on the machine affects both.
#include <csignal>
#include <cstdio>
#include <fstream>

#include <gtest/gtest.h>
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <nlohmann/json.hpp>

#include "bench/processor.h"
#include "tests/e2e/support/cluster.h"
#include "tests/e2e/support/fate_metrics.h"
#include "tests/e2e/support/prompts.h"

namespace slipstream::e2e {
namespace {

struct Options {
  std::string model = "models/smollm2-135m-instruct";
  int tokens = 96;  // longest answer
  int prompts = 8;  // of each set
  int repeats = 1;
};

// One side of a ratio.
struct Side {
  double tokens = 0, seconds = 0, steps = 0;
  void add(const Answer& answer) {
    tokens += answer.decoded;
    seconds += answer.decode_s;
    steps += static_cast<double>(answer.ids.size()) / answer.acceptance_length;
  }
  double per_s() const { return seconds > 0 ? tokens / seconds : 0; }
};

std::vector<Question> questions(const std::vector<std::string>& prompts, int tokens) {
  std::vector<Question> list;
  for (const std::string& prompt : prompts) {
    Question question;
    question.text = prompt;
    question.tokens_max = tokens;
    list.push_back(question);
  }
  return list;
}

std::vector<std::string> copy_prompts(int count) {
  std::ifstream lines(std::filesystem::path(SLIPSTREAM_SOURCE_FOLDER) / "bench/data/copy_prompts.jsonl");
  std::vector<std::string> prompts;
  for (std::string line; static_cast<int>(prompts.size()) < count && std::getline(lines, line);) {
    prompts.push_back(nlohmann::json::parse(line).at("prompt"));
  }
  return prompts;
}

void print_ratio(const char* name, const char* a, const Side& first, const char* b, const Side& second) {
  fmt::print("{:<8} {:<16} {:>7.1f} tokens/s   {:<16} {:>7.1f} tokens/s   ratio {:.3f}\n", name, a, first.per_s(), b,
             second.per_s(), first.per_s() / second.per_s());
  std::fflush(stdout);
}

std::string status_field(pid_t pid, const std::string& field) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(field + ":"))
      return fmt::format("{:.1f} MB", std::strtod(line.c_str() + field.size() + 1, nullptr) / 1024);
  }
  return "?";
}

void copy(Cluster& cluster, const Options& options) {
  Side drafted, plain;
  for (int repeat = 0; repeat < options.repeats; ++repeat) {
    for (Question question : questions(copy_prompts(options.prompts), options.tokens)) {
      drafted.add(cluster.ask(question));
      question.speculate = false;
      plain.add(cluster.ask(question));
    }
  }
  print_ratio("copy", "n-gram drafts", drafted, "plain", plain);
}

void useless(const Options& options) {
  Cluster none(options.model), hostile(options.model);
  none.start_all("none");
  hostile.start_all("useless");
  Side with, without;
  for (int repeat = 0; repeat < options.repeats; ++repeat) {
    for (const Question& question : questions(committed_prompts(static_cast<size_t>(options.prompts)), options.tokens)) {
      without.add(none.ask(question));
      with.add(hostile.ask(question));
    }
  }
  print_ratio("useless", "useless drafter", with, "no drafter", without);
  const FateMetrics fates(hostile.settled_verifier());
  fmt::print("         {} useless nodes arrived: {} rejected, {} unreached, {} late\n", fates.received, fates.rejected,
             fates.unreached, fates.late);
}

void wire(Cluster& cluster, const Options& options) {
  const auto ports_file = cluster.folder() / "one.ports";
  auto one = Process::start({std::filesystem::path(SLIPSTREAM_BUILD_FOLDER) / "bench/one_process",
                             {options.model, std::to_string(cpus()), ports_file.string()},
                             {},
                             cluster.folder() / "one.log"});
  if (!one) throw std::runtime_error(one.error().message);
  cluster.wait("one_process", [&] { return command::read_ports(ports_file).has_value(); });
  http::Client client("127.0.0.1", command::read_ports(ports_file)->http, command::kAnswerTimeout);
  cluster.wait("one_process to be ready", [&] {
    const auto reply = client.get("/ready");
    return reply && reply->status == 200;
  });
  const auto model = command::served_model(client);
  if (!model) throw std::runtime_error(model.error().message);

  for (const bool speculate : {false, true}) {
    Side three, together;
    for (int repeat = 0; repeat < options.repeats; ++repeat) {
      for (Question question : questions(copy_prompts(options.prompts), options.tokens)) {
        question.speculate = speculate;
        three.add(cluster.ask(question));
        const auto answer = command::ask(client, model->name, question, [](const Piece&) { return true; });
        if (!answer) throw std::runtime_error(answer.error().message);
        together.add(*answer);
      }
    }
    print_ratio(speculate ? "wire+" : "wire", speculate ? "three, drafting" : "three, plain", three, "one process", together);
  }
}

void run(const Options& options) {
  Cluster cluster(options.model);
  cluster.start_all("ngram");
  cluster.ask(questions(committed_prompts(1), 16).front());  // brings the weights into the page cache
  fmt::print("{}, {} CPUs, {}\n\n", processor(), cpus(),
             cluster.metrics("verifier").label(metric::kBuildInfo.name, "numerics"));
  copy(cluster, options);
  const Samples verifier = cluster.settled_verifier();
  const auto overhead = [&](double q) { return 1000 * verifier.quantile(metric::kVerifierOverheadSeconds.name, q); };
  wire(cluster, options);
  useless(options);
  fmt::print(
      "\nround time that is not model time: p50 {:.2f} ms, p99 {:.2f} ms ({} rounds of `copy`, drafts awaited in half)\n",
      overhead(0.5), overhead(0.99), verifier.sum(std::string(metric::kVerifierOverheadSeconds.name) + "_count"));
  fmt::print("resident memory, now and at most:");
  for (const std::string service : {"router", "verifier", "drafter"}) {
    const pid_t pid = cluster.process(service).pid();
    fmt::print("  {} {} / {}", service, status_field(pid, "VmRSS"), status_field(pid, "VmHWM"));
  }
  fmt::print("\n");
}

}  // namespace
}  // namespace slipstream::e2e

int main(int argc, char** argv) {
  slipstream::e2e::Options options;
  CLI::App app("Ratios of serving, within one run, through real processes.");
  app.add_option("--model", options.model, "Hugging Face folder")->capture_default_str();
  app.add_option("--tokens", options.tokens, "Of each answer at most")->capture_default_str();
  app.add_option("--prompts", options.prompts, "Of each set at most")->capture_default_str();
  app.add_option("--repeats", options.repeats, "Rounds over each set")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    slipstream::e2e::run(options);
  } catch (const std::exception& exception) {
    fmt::print(stderr, "serving: {}\n", exception.what());
    return 1;
  }
}
