#include "tools/slipstream/load/plan.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/slipstream/load/trace.h"
#include "tools/slipstream/verify/prompts.h"

namespace slipstream::command::load {
namespace {

constexpr size_t kSystemBytesMax = 1024 * 1024;
constexpr size_t kPairStride = 1'000'003;  // between the numbers of the requests of two pairs of windows

Duration milliseconds(double ms) { return std::chrono::duration_cast<Duration>(std::chrono::duration<double, std::milli>(ms)); }

ArrivalProcess process_of(const std::string& name) {
  return name == "bursts" ? ArrivalProcess::bursts : name == "even" ? ArrivalProcess::even : ArrivalProcess::poisson;
}

Result<std::string> read_system(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return fail("cannot read {}; is the path of --system-file right?", file.string());
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (text.empty()) return fail("{} is empty: there is no system prompt in it", file.string());
  if (text.size() > kSystemBytesMax)
    return fail("{} has {} bytes, the limit is {}", file.string(), text.size(), kSystemBytesMax);
  return text;
}

SessionPlan session(const LoadOptions& options, bool trace) {
  SessionPlan plan{.arrivals = {}, .streams = options.in_flight, .requests_max = static_cast<size_t>(options.requests)};
  if (options.seconds) plan.time_max = milliseconds(1000 * *options.seconds);
  if (!options.seconds && options.requests == 0 && !trace) plan.time_max = milliseconds(1000 * kDefaultSeconds);
  return plan;
}

}  // namespace

Result<void> check(const LoadOptions& options) {
  const int loads = (options.streams.empty() ? 0 : 1) + (options.rates.empty() ? 0 : 1) + (options.trace.empty() ? 0 : 1);
  if (loads > 1) return fail("choose one load: --streams (closed loop), --rate (open loop) or --trace (a recorded one)");
  if (options.arrivals != "poisson" && options.rates.empty())
    return fail("--arrivals {} needs --rate, such as --rate 5", options.arrivals);
  if (!options.trace.empty() && !options.prompts.empty())
    return fail("a trace has its own prompts: leave --prompts or --trace out");
  if (options.trace.empty() && options.speed != 1) return fail("--speed is for --trace, which it replays faster or slower");
  if (!options.system_file.empty() && options.shared_prefix > 0) {
    return fail("choose one system prompt: --system-file FILE, or --shared-prefix WORDS that makes one up");
  }
  if (std::max(options.streams.size(), options.rates.size()) > kRunsMax) return fail("a sweep has at most {} runs", kRunsMax);
  if (options.against.empty() && !options.against_model.empty()) return fail("--against-model is for --against URL");
  if (!options.against.empty() && (options.streams.size() > 1 || options.rates.size() > 1 || !options.trace.empty())) {
    return fail("--against compares two servers under one load: give one number of --streams, or one --rate");
  }
  if (!options.against.empty() && options.requests > 0 && options.requests < options.pairs) {
    return fail("--requests {} is less than one for each of {} windows; ask for more, or for fewer --pairs", options.requests,
                options.pairs);
  }
  return check_more_fields(options.fields);
}

Result<Mix> read_mix(const LoadOptions& options) {
  Mix mix;
  if (!options.trace.empty()) {
    TRY(Trace trace, read_trace(options.trace, options.speed));
    mix.words = fmt::format("{} requests of {}", trace.times.size(), options.trace.filename().string());
    mix.times = std::move(trace.times);
    mix.prompts = std::move(trace.prompts);
    mix.order = PromptOrder::as_given;
  } else {
    std::vector<std::string> texts = verify::built_in_prompts();
    if (!options.prompts.empty()) {
      TRY(texts, verify::read_prompts(options.prompts));
    }
    mix.words =
        fmt::format("{} prompts of {}", texts.size(), options.prompts.empty() ? "ours" : options.prompts.filename().string());
    for (std::string& text : texts) mix.prompts.push_back({.text = std::move(text)});
  }
  if (!options.system_file.empty()) {
    TRY(mix.system, read_system(options.system_file));
  }
  if (options.shared_prefix > 0) mix.system = shared_prefix(options.shared_prefix, options.seed);
  if (!mix.system.empty()) mix.words += fmt::format(", behind a shared system prompt of {} characters", mix.system.size());
  mix.words +=
      fmt::format("; at most {} tokens, temperature {:g}, seed {}", options.max_tokens, options.temperature, options.seed);
  if (!options.fields.empty()) mix.words += ", " + options.fields;
  return mix;
}

std::vector<PlannedRun> planned_runs(const LoadOptions& options, const Mix& mix) {
  std::vector<PlannedRun> runs;
  if (!options.trace.empty()) {
    SessionPlan plan = session(options, true);
    plan.arrivals = Schedule::replay(mix.times);
    runs.push_back({"trace " + options.trace.filename().string(), std::move(plan)});
  }
  for (double rate : options.rates) {
    const OpenLoop loop{
        .process = process_of(options.arrivals), .rate_per_s = rate, .burst = options.burst, .seed = options.seed};
    SessionPlan plan = session(options, false);
    plan.arrivals = Schedule::of(loop);
    const std::string how = loop.process == ArrivalProcess::bursts ? fmt::format("bursts of {}", loop.burst) : options.arrivals;
    runs.push_back({fmt::format("{:g} requests/s, {}", rate, how), std::move(plan), rate});
  }
  if (!runs.empty()) return runs;
  for (int streams : options.streams.empty() ? std::vector{kDefaultStreams} : options.streams) {
    SessionPlan plan = session(options, false);
    plan.streams = streams;
    runs.push_back(
        {fmt::format("{} stream{}", streams, streams == 1 ? "" : "s"), std::move(plan), static_cast<double>(streams)});
  }
  return runs;
}

PlannedRun window_of(const PlannedRun& run, int pairs, int pair) {
  PlannedRun window = run;
  if (window.plan.requests_max > 0) {
    window.plan.requests_max = std::max<size_t>(1, window.plan.requests_max / static_cast<size_t>(pairs));
  }
  if (window.plan.time_max) *window.plan.time_max /= 2 * pairs;  // each pair has a window of either server
  window.plan.first_number = static_cast<size_t>(pair) * kPairStride;
  return window;
}

Objectives objectives(const LoadOptions& options) {
  Objectives goals;
  if (options.slo_ttft_ms) goals.ttft = milliseconds(*options.slo_ttft_ms);
  if (options.slo_tpot_ms) goals.tpot = milliseconds(*options.slo_tpot_ms);
  return goals;
}

}  // namespace slipstream::command::load
