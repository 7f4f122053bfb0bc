#include "tools/slipstream/verify/verify_lossless.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <numeric>

#include <fmt/chrono.h>

#include "common/base/build_info.h"
#include "tools/slipstream/verify/prompts.h"

namespace slipstream::command::verify {
namespace {

constexpr std::string_view kBytes = "bytes";
constexpr std::string_view kDistribution = "distribution";
constexpr const char* kMarkdown = ".md";
constexpr const char* kHtml = ".html";

Result<void> check(const VerifyOptions& options) {
  const bool two = !options.reference.empty() && !options.candidate.empty();
  const bool one = !options.server.empty();
  const bool half = options.reference.empty() != options.candidate.empty();
  if (one == two || half) return fail("say what to compare: --server URL, or --reference URL and --candidate URL");
  // One server with equal arithmetic on both sides has no near-ties to excuse.
  if (one && options.allow_differences) {
    return fail("--allow-differences is for two servers: one that switches its speculation off and on promises every byte");
  }
  if (one && !options.candidate_model.empty())
    return fail("--candidate-model is for --candidate; name the server's with --model");
  if (two && !(options.speculation.rule.empty() && options.speculation.json().empty())) {
    return fail("--rule and what goes with it are for --server; two servers are asked as they are");
  }
  TRY_VOID(options.speculation.check());
  const bool greedy = std::ranges::find(options.temperatures, 0.0F) != options.temperatures.end();
  const bool sampled = std::ranges::any_of(options.temperatures, [](float temperature) { return temperature > 0; });
  if (options.only == kBytes && !greedy && !(one && options.speculation.promises_bytes())) {
    return fail("bytes are promised at temperature 0 only here; add 0 to --temperatures");
  }
  if (options.only == kDistribution && !sampled)
    return fail("there is no distribution at temperature 0; add one above 0 to --temperatures");
  const bool compares_samples = sampled && options.only != kBytes && options.samples > 0;
  // Rules with sampled drafts draft nothing for the first token.
  if (compares_samples && options.positions == 1 && !options.speculation.promises_bytes()) {
    return fail(
        "the rule {} drafts nothing for the first token, so --positions 1 would compare plain decoding with itself; ask "
        "for 2 or more",
        options.speculation.rule);
  }
  return {};
}

Result<ServerPair> probe_servers(const VerifyOptions& options) {
  if (!options.server.empty()) return probe_switched({options.server, options.model, options.api_key}, options.speculation);
  return probe_two(
      {options.reference, options.model, options.api_key},
      {options.candidate, options.candidate_model.empty() ? options.model : options.candidate_model, options.api_key});
}

Result<ServerPair> servers_for(const VerifyOptions& options) {
  TRY(const std::string more, options.request.json());
  TRY(ServerPair servers, probe_servers(options));
  servers.reference.defaults.more = servers.candidate.defaults.more = more;
  return servers;
}

BytesPlan bytes_plan(const VerifyOptions& options, const Report& report) {
  BytesPlan plan{.prompts = report.prompts,
                 .seeds = std::vector<int64_t>(static_cast<size_t>(options.seeds)),
                 .temperatures = options.temperatures,
                 .tokens_max = options.tokens};
  // Seeds of one --seed: the first part uses the range below seed * kSeedStride, the second part
  // the range above.
  std::iota(plan.seeds.begin(), plan.seeds.end(), (options.seed - 1) * kSeedStride + 1);
  // Above temperature 0 only some rules promise equal bytes for equal seeds.
  if (!report.bytes_promised) std::erase_if(plan.temperatures, [](float temperature) { return temperature > 0; });
  return plan;
}

Result<DistributionResult> compare_distributions(const QuestionPool& pool, const VerifyOptions& options,
                                                 const std::vector<std::string>& prompts) {
  DistributionResult distribution{.alpha = options.alpha,
                                  .samples = static_cast<size_t>(options.samples),
                                  .unit = common_unit(pool.servers),
                                  .declares = options.speculation.declares_bias()};
  for (size_t prompt = 0; prompt < std::min(prompts.size(), static_cast<size_t>(options.distribution_prompts)); ++prompt) {
    for (float temperature : options.temperatures) {
      if (temperature == 0) continue;
      const SamplePlan plan{
          prompts[prompt],      temperature, distribution.samples, options.positions, options.seed * kSeedStride,
          distribution.declares};
      TRY(const Samples samples, draw_samples(pool, plan, distribution.unit));
      std::ranges::move(distribution_tests(samples, {prompt, temperature, distribution.unit, options.positions}),
                        std::back_inserter(distribution.tests));
      distribution.drafting += samples.drafting;
    }
  }
  correct(distribution);
  return distribution;
}

std::string seeds_words(const VerifyOptions& options) {
  const int64_t bytes = (options.seed - 1) * kSeedStride + 1, distribution = options.seed * kSeedStride;
  return fmt::format("{} to {} byte for byte, {} to {} as a distribution (--seed {}; another number draws others)", bytes,
                     bytes + options.seeds - 1, distribution, distribution + 2 * std::max(options.samples, 1) - 1,
                     options.seed);
}

void say(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

void run(const VerifyOptions& options, const QuestionPool& pool, Report& report) {
  const BytesPlan plan = bytes_plan(options, report);
  if (options.only != kDistribution && !cases(plan).empty()) {
    auto bytes = compare_bytes(pool, plan);
    if (!bytes) {
      report.problem = bytes.error().message;
      return;
    }
    report.bytes = *std::move(bytes);
    say(fmt::format("bytes: {} answers a side, {} differ", report.bytes->answers, report.bytes->differences.size()));
  }
  const bool sampled = std::ranges::any_of(options.temperatures, [](float temperature) { return temperature > 0; });
  if (options.only == kBytes || !sampled || options.samples == 0) return;
  auto distribution = compare_distributions(pool, options, report.prompts);
  if (!distribution) {
    report.problem = distribution.error().message;
    return;
  }
  report.distribution = *std::move(distribution);
  say(fmt::format("distribution: {} samples a side\n{}{}", report.distribution->samples,
                  distribution_table(*report.distribution).plain(), power_sentence(*report.distribution)));
}

Result<std::string> write(const std::filesystem::path& base, const char* suffix, const std::string& text,
                          std::ios::openmode mode = {}) {
  const std::string path = base.string() + suffix;
  std::ofstream file(path, std::ios::binary | mode);
  file << text;
  file.close();
  if (!file) return fail("cannot write {}; name another place with --report", path);
  return path;
}

}  // namespace

Result<Verdict> verify_lossless(const VerifyOptions& options) {
  TRY_VOID(check(options));
  Report report;
  report.prompts = built_in_prompts();
  if (!options.prompts.empty()) {
    TRY(report.prompts, read_prompts(options.prompts));
  }
  // Test that the report can be written before hours of work.
  for (const char* suffix : {kMarkdown, kHtml}) TRY_VOID(write(options.report, suffix, "", std::ios::app));
  TRY(const ServerPair servers, servers_for(options));
  report.reference = servers.reference.words();
  report.candidate = servers.candidate.words();
  report.asked = servers.reference.defaults.more;
  report.seeds = seeds_words(options);
  report.speculates = !options.server.empty();
  report.bytes_promised = report.speculates && options.speculation.promises_bytes();
  report.allowed = static_cast<size_t>(options.allow_differences.value_or(0));
  report.made =
      fmt::format("{:%Y-%m-%d %H:%M} UTC, slipstream {}",
                  fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())), build_summary());
  say(fmt::format("reference: {}\ncandidate: {}", report.reference, report.candidate));
  if (!report.asked.empty()) say(fmt::format("each asked with {}", report.asked));
  say("seeds: " + report.seeds);
  run(options, {servers, options.streams}, report);

  const Document pages = document(report);
  TRY(const std::string text, write(options.report, kMarkdown, markdown(pages)));
  TRY(const std::string page, write(options.report, kHtml, html("verify-lossless", pages)));
  say(fmt::format("{}\nThe report: {}, {}", sentence(report), text, page));
  return verdict(report);
}

}  // namespace slipstream::command::verify
