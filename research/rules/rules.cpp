// Compares the acceptance rules on a real model, by temperature and by quality of the drafts. The
// drafter is the target with noise on its weights. All rules draft trees of one size. Prints the
// means over steps with their standard errors.
//
//   build/research/research/rules/rules --model models/smollm2-135m-instruct --threads 2             about six minutes
//   build/research/research/rules/rules ... --steps 1000 --temperature 1 --noise 0.05 --markdown
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "bench/processor.h"
#include "common/messages/rules.h"
#include "common/model/cpu/cpu_device.h"
#include "common/text/chat_prompt.h"
#include "research/rules/rule_trial.h"
#include "tests/data/noisy_model.h"

namespace slipstream {
namespace {

struct Options {
  std::string model, prompts = "tests/e2e/data/prompts.jsonl";
  int threads = 2, steps = 64, nodes = 8, sequences = 8;
  std::vector<float> temperatures{0.3F, 0.7F, 1.0F, 1.2F}, noises{0.02F, 0.1F};
  SamplingParams sampling;
  bool markdown = false;
};

struct Shape {
  std::string name;
  Acceptance acceptance;
  int siblings = 1;  // candidates in each row of a coupled tree

  bool coupled() const { return acceptance.rule == Rule::coupled; }
};

std::vector<Shape> shapes() {
  const Acceptance coupled{.rule = Rule::coupled};
  return {{"coupled, chain", coupled, 1},
          {"ratio, chain", *acceptance_named("ratio", {})},
          {"ratio, siblings 2", *acceptance_named("ratio", 2)},
          {"batch 3", *acceptance_named("batch", 3)},
          {"block", *acceptance_named("block", {})},
          {"traversal, siblings 2", *acceptance_named("traversal", 2)},
          {"coupled, siblings 2", coupled, 2},
          {"coupled, siblings 4", coupled, 4}};
}

struct Row {
  Shape shape;
  Measured measured;
};
using Tables = std::map<std::pair<float, float>, std::vector<Row>>;  // by noise and temperature

// Reads prompts that are spread evenly over the file.
Result<std::vector<std::vector<TokenId>>> read_prompts(const Options& options) {
  std::ifstream file(options.prompts);
  std::vector<std::string> texts;
  for (std::string line; std::getline(file, line);) texts.push_back(nlohmann::json::parse(line).at("prompt"));
  const auto count = static_cast<size_t>(options.sequences);
  if (texts.size() < count) return fail("{} has {} prompts: {} are wanted", options.prompts, texts.size(), count);
  const std::filesystem::path folder = options.model;
  TRY(const Tokenizer tokenizer, Tokenizer::load(folder / "tokenizer.json"));
  TRY(const ChatTemplate chat_template, ChatTemplate::load(folder));
  std::vector<std::vector<TokenId>> prompts;
  for (size_t i = 0; i < count; ++i) {
    const std::vector<ChatMessage> messages{{"user", texts[i * texts.size() / count]}};
    TRY(auto ids, chat_prompt(tokenizer, chat_template, messages));
    prompts.push_back(std::move(ids));
  }
  return prompts;
}

// A noisy copy of the model, removed by its destructor.
struct NoisyCopy {
  std::filesystem::path folder;
  NoisyCopy(const Options& options, float noise)
      : folder(noisy_model(options.model, std::filesystem::temp_directory_path() / fmt::format("slipstream-rules-{}", getpid()),
                           noise)) {}
  NoisyCopy(const NoisyCopy&) = delete;
  ~NoisyCopy() { std::filesystem::remove_all(folder); }
};

class Progress {
 public:
  explicit Progress(size_t trials) : trials_(trials) {}
  void tell(float noise, float temperature, const std::string& shape) {
    ++done_;
    if (isatty(STDERR_FILENO) == 0) return;
    fmt::print(stderr, "\r{}/{}  noise {}, temperature {}, {:<24}", done_, trials_, noise, temperature, shape);
    if (done_ == trials_) fmt::print(stderr, "\r{:60}\r", "");
  }

 private:
  size_t trials_, done_ = 0;
};

// A drafter ranks a number of candidates that is fixed when it is loaded, so rules with equal
// siblings share one.
Result<void> measure(const Options& options, float noise, RuleTrial& trial, Progress& progress, Tables& tables) {
  const NoisyCopy copy(options, noise);
  for (const int siblings : {1, 2, 4}) {
    TRY(std::shared_ptr<Device> device, make_cpu_device({.threads = options.threads}));
    TRY(const auto drafter,
        SmallLm::load(
            {.folder = copy.folder, .device = device, .cache_tokens = 16384, .vocabulary = 1 << 20, .siblings_max = siblings}));
    for (const float temperature : options.temperatures) {
      for (const Shape& shape : shapes()) {
        if (shape.siblings != siblings) continue;
        progress.tell(noise, temperature, shape.name);
        SamplingParams sampling = options.sampling;
        sampling.temperature = temperature;
        TRY(const Measured measured, trial.run(*drafter, {.acceptance = shape.acceptance,
                                                          .sampling = sampling,
                                                          .siblings = siblings,
                                                          .nodes = options.nodes,
                                                          .steps = options.steps}));
        tables[{noise, temperature}].push_back({shape, measured});
      }
    }
  }
  return {};
}

// How the best coupled shape compares with the best of all in tokens a step (accepted nodes + 1).
struct Kept {
  double share = 0, error = 0, of_accepted = 0;
  std::string best;
};

Kept kept_by_coupled(const std::vector<Row>& rows) {
  const auto accepted = [](const Row& row) { return row.measured.accepted.mean(); };
  const Row& best = *std::ranges::max_element(rows, {}, accepted);
  std::vector<Row> coupled;
  std::ranges::copy_if(rows, std::back_inserter(coupled), [](const Row& row) { return row.shape.coupled(); });
  const Row& ours = *std::ranges::max_element(coupled, {}, accepted);
  Kept kept{.share = (accepted(ours) + 1) / (accepted(best) + 1),
            .of_accepted = accepted(best) > 0 ? accepted(ours) / accepted(best) : 1,
            .best = best.shape.name};
  // The standard error of a ratio, to first order. A rule compared with itself has none.
  if (ours.shape.name != best.shape.name) {
    kept.error = kept.share * std::hypot(ours.measured.accepted.standard_error() / (accepted(ours) + 1),
                                         best.measured.accepted.standard_error() / (accepted(best) + 1));
  }
  return kept;
}

constexpr double kBar = 0.9;

void print_tables(const Options& options, const Tables& tables) {
  const char* line = options.markdown ? "| {} | {} | {} | {} | {} | {} | {} | {} | {} |\n"
                                      : "{:>5} {:>5}  {:<22} {:>14} {:>7} {:>7} {:>9} {:>9}  {}\n";
  fmt::print(fmt::runtime(line), "noise", "temp", "rule", "tokens/step", "nodes", "bytes", "accept us", "draft us",
             "coupled : best");
  if (options.markdown) fmt::print("|---|---|---|---|---|---|---|---|---|\n");
  std::string below;
  for (const auto& [key, unordered] : tables) {
    const auto [noise, temperature] = key;
    std::vector<Row> rows = unordered;
    std::ranges::stable_sort(rows, std::ranges::greater{}, [](const Row& row) { return row.shape.coupled(); });
    const Kept kept = kept_by_coupled(rows);
    for (const Row& row : rows) {
      const Measured& m = row.measured;
      const bool first = &row == &rows.front();
      const std::string share =
          first ? fmt::format("{:.2f} ± {:.2f} of {}{}", kept.share, kept.error, kept.best, kept.share < kBar ? " (below)" : "")
                : "";
      fmt::print(fmt::runtime(line), fmt::format("{:g}", noise), fmt::format("{:g}", temperature), row.shape.name,
                 fmt::format("{:.2f} ± {:.2f}", m.accepted.mean() + 1, m.accepted.standard_error()),
                 fmt::format("{:.1f}", m.nodes.mean()), fmt::format("{:.0f}", m.tree_bytes.mean()),
                 fmt::format("{:.0f}", m.accepting_us.mean()), fmt::format("{:.0f}", m.drafting_us.mean()), share);
    }
    if (kept.share < kBar) {
      below += fmt::format("  noise {:g}, temperature {:g}: {:.2f} ± {:.2f} of {}; of accepted nodes alone {:.2f}\n", noise,
                           temperature, kept.share, kept.error, kept.best, kept.of_accepted);
    }
    if (!options.markdown) fmt::print("\n");
  }
  fmt::print("{}Coupled, in its best shape, keeps {} of the best rule's tokens a step {}\n{}", options.markdown ? "\n" : "",
             kBar, below.empty() ? "everywhere." : "except at:", below);
}

Result<void> run(const Options& options) {
  TRY(auto prompts, read_prompts(options));
  TRY(std::shared_ptr<Device> device, make_cpu_device({.threads = options.threads}));
  TRY(LanguageModel target, LanguageModel::load(options.model, device, {.cache_blocks = RuleTrial::cache_blocks(prompts)}));
  fmt::print("{}, {}, trees of {} nodes at most, {} steps or a few more of {} answers at a time; ± one standard error\n",
             processor(), target.numerics_id(), options.nodes, options.steps, options.sequences);
  RuleTrial trial(target, std::move(prompts));
  TRY_VOID(trial.prefill_prompts());
  Progress progress(options.noises.size() * options.temperatures.size() * shapes().size());
  Tables tables;
  for (const float noise : options.noises) {
    TRY_VOID(measure(options, noise, trial, progress, tables));
  }
  print_tables(options, tables);
  return {};
}

}  // namespace
}  // namespace slipstream

int main(int argc, char** argv) {
  slipstream::Options options;
  CLI::App app("Compares the acceptance rules on a model");
  app.add_option("--model", options.model, "Hugging Face folder")->required();
  app.add_option("--prompts", options.prompts, "JSON lines with a \"prompt\" each")->capture_default_str();
  app.add_option("--threads", options.threads, "compute threads")->capture_default_str();
  app.add_option("--steps", options.steps, "of each rule at each temperature and noise")
      ->capture_default_str()
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--nodes", options.nodes, "of a tree")->capture_default_str()->check(CLI::Range(4, 63));
  app.add_option("--sequences", options.sequences, "answers at a time")->capture_default_str()->check(CLI::Range(1, 24));
  app.add_option("--temperature", options.temperatures, "one or more")->delimiter(',')->check(CLI::Range(0.01F, 2.0F));
  app.add_option("--noise", options.noises, "on each weight of the drafter, as a share of it; one or more")
      ->delimiter(',')
      ->check(CLI::Range(0.0F, 1.0F));
  app.add_option("--top-k", options.sampling.top_k, "0: off")->capture_default_str()->check(CLI::Range(0, 1 << 20));
  app.add_option("--top-p", options.sampling.top_p, "1: off")->capture_default_str()->check(CLI::Range(0.01F, 1.0F));
  app.add_flag("--markdown", options.markdown, "the table as Markdown");
  CLI11_PARSE(app, argc, argv);
  if (const auto done = slipstream::run(options); !done) {
    fmt::print(stderr, "{}\n", done.error().message);
    return 1;
  }
  return 0;
}
