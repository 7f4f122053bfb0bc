#include "services/verifier/load_target.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <utility>

#include <fmt/ranges.h>

#include "common/base/log.h"
#include "common/base/names.h"
#include "common/checkpoint/fingerprint.h"
#include "common/checkpoint/head_config.h"
#include "common/checkpoint/llama_config.h"
#include "common/config/settings_checks.h"
#include "common/kv/block_pool.h"
#include "common/model/make_device.h"
#include "common/model_text/read_tokenizer.h"
#include "services/verifier/admission.h"
#include "services/verifier/calibrate.h"

namespace slipstream {
namespace {

// Times steps of the loaded model, unless the options say what they cost.
Result<CostModel> cost_of_steps(const VerifierOptions& options, LanguageModel& model, int32_t cache_blocks, LoadReport& load) {
  if (options.step_cost_us > 0) return CostModel::fixed(options.step_cost_us * 1e-6);
  const auto began = std::chrono::steady_clock::now();
  TRY(const CostModel cost, calibrate(model, cache_blocks));
  load.trial_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return cost;
}

// A model whose tokenizer the text library cannot read decodes as ever: the router that makes its
// prompts has read it.
std::optional<Grammars> or_none(const Result<Grammars>& grammars) {
  if (grammars) return *grammars;
  log_warning("requests with a grammar (structured output) are refused: {}", grammars.error().message);
  return std::nullopt;
}

Result<Grammars> grammars_of(const std::string& model) {
  TRY(const LlamaConfig config, read_llama_config(model));
  TRY(const Tokenizer tokenizer, read_tokenizer(model));
  return Grammars::make(tokenizer, config.eos_ids, config.vocabulary);
}

// REQUIRES: the options are valid.
std::optional<ChainRule> head_rule(const VerifierOptions& options) {
  if (options.head_rule.empty()) return std::nullopt;
  return read_chain_rule(options.head_rule).value();
}

}  // namespace

Result<LoadedTarget> load_target(const VerifierOptions& options) {
  const std::filesystem::path head = head_folder(options.model, options.head);
  const bool sends = options.head_at == kHeadAtDrafters;
  if (sends) TRY_VOID(needed_head(options.model, options.head, "--head-at drafters"));
  log_info("loading {}", options.model);
  TRY(std::shared_ptr<Device> device, make_device({.name = options.device_name(),
                                                   .threads = static_cast<int>(options.threads_or_quota()),
                                                   .path = options.path,
                                                   .weights = options.weights,
                                                   .deterministic = !options.fast_rows}));
  // It takes a third of a second on one thread, so it runs beside the load, and ends before the
  // trial.
  std::future<Result<Grammars>> grammars = std::async(std::launch::async, grammars_of, options.model);
  TRY(LanguageModel model, LanguageModel::load(options.model, device,
                                               {.cache_blocks = options.cache_rows() / kBlockTokens,
                                                .cache_bytes = options.cache_bytes(),
                                                .screen_output = !options.whole_output_layer,
                                                .fine_rows = options.fine_rows,
                                                .head = head,
                                                .head_part = sends ? HeadPart::features : HeadPart::whole,
                                                .on_load = log_load()}));
  if (!model.row_invariant()) {
    log_info("a row's bits depend on the other rows of its step here ({}): words may differ at near-ties, which are counted",
             options.fast_rows ? "--fast-rows" : "the model's heads are left to torch");
  }
  if (sends && model.config().hidden > kAdvanceFeaturesMax) {
    return fail("--head-at drafters sends features of up to {} numbers, and {} has {}: leave it out", kAdvanceFeaturesMax,
                options.model, model.config().hidden);
  }
  const int32_t cache_blocks = model.cache_blocks();
  TRY(const uint64_t tokenizer, hash_tokenizer(options.model));
  LoadReport load = model.load_report();
  const Result<Grammars> made = grammars.get();
  TRY(const CostModel cost, cost_of_steps(options, model, cache_blocks, load));
  log_info("{}", load.summary());
  return LoadedTarget{std::move(model), tokenizer, or_none(made), load, cost, cache_blocks};
}

Result<void> check_load(const VerifierOptions& options) {
  TRY(const LoadedTarget target, load_target(options));
  log_info("{}: the model loads{}, with a cache of {} tokens in {} MB", target.model.numerics_id(),
           target.model.has_head() ? " and its draft head" : "", target.cache_blocks * kBlockTokens,
           target.model.cache_bytes() / 1'000'000);
  return {};
}

VerifierConfig verifier_config(const VerifierOptions& options, const LoadedTarget& target, WorkerProcess process) {
  const LlamaConfig& model = target.model.config();
  const TokenMask* draft_vocabulary = target.model.draft_vocabulary();
  const int32_t asked = options.context_max > 0 ? static_cast<int32_t>(options.context_max) : model.context_max;
  return {
      .process = std::move(process),
      .fingerprint = {target.tokenizer, model.vocabulary, model.eos_ids, target.model.weights_hash()},
      .numerics_id = numerics_id(target),
      .rows_vary = !target.model.row_invariant(),
      .cost = target.cost,
      .context_max = context_that_fits(std::min(asked, model.context_max), target.cache_blocks),
      .cache_blocks = target.cache_blocks,
      .step_rows_max = target.model.step_rows(),
      .sequences_max = options.sequences > 0 ? static_cast<int32_t>(options.sequences)
                                             : sequences_that_fit(target.model.sequences(), target.cache_blocks),
      .wait_share = options.wait_percent / 100.0,
      .sampled_wait = std::chrono::microseconds(options.sampled_wait_us),
      .grammars = target.grammars,
      .head = target.model.has_head() ? target.model.head_name() : "",
      .features = options.head_at == kHeadAtDrafters ? FeaturesRead{target.model.head_hash(), model.hidden} : FeaturesRead{},
      .head_rule = head_rule(options),
      .draft_vocabulary = draft_vocabulary == nullptr ? std::nullopt : std::optional(*draft_vocabulary)};
}

// An answer goes on at another verifier only if its masks are the same there.
std::string numerics_id(const LoadedTarget& target) {
  return fmt::format("{}, {}", target.model.numerics_id(), target.grammars ? kGrammarLibrary : "no grammars");
}

void log_ready(const VerifierConfig& config, const VerifierOptions& options, const LanguageModel& model) {
  const WorkerProcess& process = config.process;
  log_info(
      "id {:016x}, pid {}: {} on {} threads, resident method {}, draft head {}, context {} (the model's: {}), cache {} tokens "
      "in {} MB, up to {} sequences, routers {}, metrics at {}",
      process.incarnation, process.pid, config.numerics_id, options.threads_or_quota(), options.resident,
      model.head_name().empty() ? "none"
      : config.head.empty()     ? model.head_name() + " at drafters"
      : config.head_rule        ? model.head_name() + " by " + options.head_rule
                                : model.head_name(),
      config.context_max, model.config().context_max, config.cache_blocks * kBlockTokens, model.cache_bytes() / 1'000'000,
      config.sequences_max, fmt::join(process.routers, " "), process.metrics_endpoint);
  if (const int32_t window = model.config().attention_window; window > 0) {
    const int32_t every = model.config().full_attention_every;
    log_info("the model has a sliding window: a token sees the last {} tokens, itself included{}", window,
             every == 0 ? "" : fmt::format("; in every {}th layer it sees all", every));
  }
  const auto ms = [&](int32_t behind) {
    const auto of = [&](int32_t rows) { return 1e3 * config.cost.seconds(StepLoad{}.with(rows, behind)); };
    return fmt::format("{:.3}, {:.3}, {:.3}, {:.3} or {:.3} ms", of(1), of(4), of(8), of(16), of(256));
  };
  log_info("a step of 1, 4, 8, 16 or 256 rows of one sequence takes {}, behind {} tokens {}", ms(0), kCalibrateContext,
           ms(kCalibrateContext));
}

}  // namespace slipstream
