#include "tools/slipstream/load/load.h"

#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <utility>

#include <fmt/chrono.h>

#include "common/base/build_info.h"
#include "tools/slipstream/load/plan.h"
#include "tools/slipstream/load/progress_line.h"
#include "tools/slipstream/load/report.h"
#include "tools/slipstream/load/report_json.h"
#include "tools/slipstream/load/request_log.h"
#include "tools/slipstream/load/session.h"
#include "tools/slipstream/load/target.h"

namespace slipstream::command::load {
namespace {

// One of the servers, with the requests that it is asked.
struct Side {
  Target target;
  RequestMix mix;
};

// What all runs have in common.
struct Measuring {
  Objectives goals;
  std::stop_token stop;
  RequestLog each;
};

Duration cpu_time() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto of = [](const timeval& time) {
    return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
  };
  return of(used.ru_utime) + of(used.ru_stime);
}

// CPUs used, on average, since `before` over `span`.
double cores_since(Duration before, Duration span) {
  return span.count() > 0 ? static_cast<double>((cpu_time() - before).count()) / static_cast<double>(span.count()) : 0;
}

Result<Side> side_of(const LoadOptions& options, const Mix& mix, const std::string& url, const std::string& model) {
  const auto timeout = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::duration<double>(options.timeout_s));
  TRY(Target target,
      find_target({.url = url, .model = model, .ca_file = options.ca_file, .api_key = options.api_key, .timeout = timeout}));
  RequestFields fields{.model = target.model.name,
                       .system = mix.system,
                       .max_tokens = options.max_tokens,
                       .temperature = options.temperature,
                       .seed = options.seed,
                       .token_ids = target.slipstream() && !options.standard,
                       .more = options.fields};
  return Side{std::move(target), RequestMix(mix.prompts, std::move(fields), mix.order)};
}

Result<Point> measure(const Side& side, const PlannedRun& run, Measuring& measuring) {
  Point point{.name = run.name, .tally = Tally(measuring.goals), .offered = run.offered};
  ProgressLine line(run.name);
  const Duration cpu = cpu_time();
  Session session(side.target, side.mix, run.plan, [&](const Sample& sample) {
    point.tally.add(sample);
    measuring.each.add(run.name, sample);
  });
  TRY(const Duration took, session.run(measuring.stop, [&](const Progress& progress) { line.show(progress); }));
  point.tally.ran_for(took);
  point.generator_cores = cores_since(cpu, took);
  return point;
}

// The sample as seen by a server's whole time under load, of which its window is a part.
Sample moved(Sample sample, Duration by) {
  for (Offset* time : {&sample.scheduled, &sample.sent, &sample.ended}) *time += by;
  for (Chunk& chunk : sample.chunks) chunk.at += by;
  return sample;
}

// One window of one server. Its samples count for the server's whole tally, too.
Result<WindowFigures> measure_window(const Side& side, const PlannedRun& window, Point& whole, Measuring& measuring) {
  Tally tally;
  ProgressLine line(whole.name);
  const Duration cpu = cpu_time(), before = whole.tally.elapsed();
  Session session(side.target, side.mix, window.plan, [&](const Sample& sample) {
    tally.add(sample);
    const Sample of_all = moved(sample, before);
    whole.tally.add(of_all);
    measuring.each.add(whole.name, of_all);
  });
  TRY(const Duration took, session.run(measuring.stop, [&](const Progress& progress) { line.show(progress); }));
  tally.ran_for(took);
  const double cores = cores_since(cpu, took);
  whole.tally.ran_for(took);
  whole.generator_cores = std::max(whole.generator_cores, cores);
  return WindowFigures::of(tally);
}

// Windows of the two servers in turn: first second, second first, first second, ... so that a drift
// of the machine harms both alike.
Result<void> compare(const LoadOptions& options, const Side& first, const Side& second, const PlannedRun& run,
                     Measuring& measuring, LoadReport& report) {
  for (const Side* side : {&first, &second}) {
    report.points.push_back({.name = side->target.url.text(), .tally = Tally(measuring.goals)});
  }
  std::vector<WindowPair> pairs;
  for (int pair = 0; pair < options.pairs && !measuring.stop.stop_requested(); ++pair) {
    const PlannedRun window = window_of(run, options.pairs, pair);
    WindowPair figures;
    for (bool is_first : {pair % 2 == 0, pair % 2 != 0}) {
      TRY((is_first ? figures.first : figures.second),
          measure_window(is_first ? first : second, window, report.points[is_first ? 0 : 1], measuring));
    }
    if (!measuring.stop.stop_requested()) pairs.push_back(figures);  // else the second window was cut short
  }
  report.ratios = ratios(pairs);
  return {};
}

Result<void> write(const std::filesystem::path& file, const std::string& text, std::ios::openmode mode = {}) {
  if (file.empty()) return {};
  std::ofstream stream(file, std::ios::binary | mode);
  stream << text;
  stream.close();
  if (!stream) return fail("cannot write {}; name another file", file.string());
  return {};
}

std::string made() {
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  return fmt::format("{:%Y-%m-%d %H:%M} UTC, slipstream {}", fmt::gmtime(now), build_summary());
}

Result<void> publish(const LoadOptions& options, const LoadReport& report) {
  fmt::print("{}", plain(report));
  std::fflush(stdout);
  TRY_VOID(write(options.json, options.json.empty() ? "" : json(report)));
  TRY_VOID(write(options.html, options.html.empty() ? "" : html("slipstream load", page(report))));
  for (const auto& file : {options.json, options.html}) {
    if (!file.empty()) fmt::print("The report: {}\n", file.string());
  }
  if (!options.each.empty()) fmt::print("Each request: {}\n", options.each.string());
  uint64_t complete = 0;
  for (const Point& point : report.points) complete += point.tally.complete();
  if (complete == 0 && !report.stopped) return fail("not one request got a whole answer; the lines above say why");
  return {};
}

}  // namespace

Result<void> run_load(const LoadOptions& options, StopSignal& stop) {
  TRY_VOID(check(options));
  TRY(const Mix mix, read_mix(options));
  // Test that the reports can be written before the work.
  for (const auto& file : {options.json, options.html}) TRY_VOID(write(file, "", std::ios::app));
  TRY(RequestLog each, RequestLog::open(options.each));
  Measuring measuring{.goals = objectives(options), .stop = stop.token(), .each = std::move(each)};
  TRY(const Side side, side_of(options, mix, options.url, options.model));
  LoadReport report{.server = side.target.words(), .asked = mix.words, .made = made()};
  const std::vector<PlannedRun> runs = planned_runs(options, mix);
  report.how = runs.front().plan.arrivals
                   ? fmt::format("open loop: requests arrive whatever the server does, at most {} at once", options.in_flight)
                   : "closed loop: each stream asks again when its answer is done";
  report.offered_unit = options.rates.empty() ? "streams" : "requests/s";
  if (options.against.empty()) {
    for (const PlannedRun& run : runs) {
      if (measuring.stop.stop_requested()) break;
      TRY(Point point, measure(side, run, measuring));
      report.points.push_back(std::move(point));
    }
  } else {
    TRY(const Side other, side_of(options, mix, options.against, options.against_model));
    report.server += fmt::format(" (first) against {} (second), in turn", other.target.words());
    TRY_VOID(compare(options, side, other, runs.front(), measuring, report));
  }
  report.stopped = measuring.stop.stop_requested();
  TRY_VOID(publish(options, report));
  return measuring.each.close();
}

}  // namespace slipstream::command::load
