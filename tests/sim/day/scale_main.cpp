// scale: a deployment of many processes in virtual time, and what each of them has to do
// (docs/use/SCALE.md). Prints messages, connections, what an actor's event takes of a core, and
// pages.
#include <algorithm>
#include <chrono>
#include <fstream>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "common/wire/codec.h"
#include "services/drafter/metrics_page.h"
#include "services/router/metrics_page.h"
#include "services/verifier/metrics_page.h"
#include "tests/sim/day/fleet.h"

namespace slipstream::sim {
namespace {

using std::chrono::milliseconds;

struct Size {
  int routers = 50, verifiers = 200, drafters = 1000;
  double seconds = 5;         // that are measured
  double per_verifier = 1.5;  // requests a second
};

constexpr Time kJoin = std::chrono::seconds(6);  // all have joined
constexpr Time kWarm = std::chrono::seconds(8);  // of requests, before the measuring

double resident_mib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::stod(line.substr(6)) / 1024;
  }
  return 0;
}

void ask_steadily(Fleet& fleet, const Size& size, Time from, Time to) {
  RandomSource random(1, "scale");
  const auto gap = Time(static_cast<int64_t>(1e6 / (size.per_verifier * size.verifiers)));
  for (Time when = from; when < to; when += gap) {
    DayRequest request{.when = when, .seed = random.word() & ~uint64_t{1}, .prompt = {}, .tokens = 48};
    for (int i = 0; i < 24; ++i) request.prompt.push_back(static_cast<int32_t>(random.between(1, kToyVocabulary - 1)));
    fleet.time().at(when, [&fleet, request] { fleet.ask(request); });
  }
}

struct Work {  // of all processes of a kind
  uint64_t events = 0;
  double spent = 0;  // seconds in the actors
  int processes = 0;
};

template <class L>
Work work_of(const Fleet& fleet) {
  Work work;
  fleet.each([&](const L& life) {
    work.events += life.events();
    work.spent += std::chrono::duration<double>(life.spent()).count();
    ++work.processes;
  });
  return work;
}

void print(const char* name, const Work& before, const Work& after, double seconds) {
  const double processes = after.processes, events = static_cast<double>(after.events - before.events);
  const double spent = after.spent - before.spent;
  fmt::print("  {:<9} {:>5} processes, {:>8.0f} events a second each, {:>7.2f} us an event, {:>6.2f}% of a core each\n", name,
             after.processes, events / seconds / processes, 1e6 * spent / std::max(1.0, events),
             100 * spent / seconds / processes);
}

template <class L, class Add>
void print_page(const char* name, const Fleet& fleet, const Add& add) {
  bool first = true;
  fleet.each([&](const L& life) {
    if (!std::exchange(first, false)) return;
    const auto began = std::chrono::steady_clock::now();
    Exposition page;
    add(life.actor().counters(), page);
    const std::string text = page.text();
    const auto written = std::chrono::steady_clock::now();
    const auto samples = Scrape::parse(text);
    const auto parsed = std::chrono::steady_clock::now();
    fmt::print("  page of a {:<9} {:>9} bytes, {:>6} samples, written in {:.2f} ms, parsed in {:.2f} ms\n", name, text.size(),
               samples ? samples->samples().size() : 0, std::chrono::duration<double, std::milli>(written - began).count(),
               std::chrono::duration<double, std::milli>(parsed - written).count());
  });
}

size_t heartbeat_bytes(size_t gains) {
  WorkerHeartbeat heartbeat{.sequences = 8, .steps = 100'000, .busy = 0.9F};
  for (size_t i = 0; i < gains; ++i) heartbeat.drafter_gains.push_back({.drafter = (i + 1) << 32, .tokens = 1.5F});
  return wire::encode(ControlMessage(heartbeat)).size();
}

void print_connections(const Fleet& fleet, const Size& size) {
  uint64_t known = 0, refused = 0, live = 0, tokens = 0, drafted = 0, links = 0, links_most = 0, peers = 0, peers_most = 0,
           busy = 0;
  fleet.each([&](const RouterLife& life) {
    const RouterCounters& c = life.actor().counters();
    known += c.workers->size();
    refused += c.workers_refused;
    live += c.live + c.waiting;
    tokens += c.output_tokens;
    drafted += c.drafted_tokens;
  });
  fleet.each([&](const VerifierLife& life) {
    uint64_t of_it = 0;
    for (const auto& kind : life.actor().counters().draft_kinds) of_it += kind.drafters;
    links += of_it;
    links_most = std::max(links_most, of_it);
  });
  fleet.each([&](const DrafterLife& life) {
    const uint64_t of_it = life.actor().counters().verifiers;
    peers += of_it;
    peers_most = std::max(peers_most, of_it);
    busy += of_it > 0 ? 1 : 0;
  });
  fmt::print("  a router knows {} workers; {} Hellos were refused; {} requests live, {:.2f} of the tokens drafted\n",
             known / static_cast<uint64_t>(size.routers), refused, live,
             static_cast<double>(drafted) / static_cast<double>(std::max<uint64_t>(tokens, 1)));
  fmt::print(
      "  a verifier has {} drafters on average and {} at most; a drafter {} verifiers and {} at most; {} drafters have one\n",
      links / std::max(1, size.verifiers), links_most, peers / std::max(1, size.drafters), peers_most, busy);
}

void run(const Size& size) {
  Fleet fleet({.routers = size.routers,
               .speed = {.least = Time(75'000), .most = Time(85'000), .row = Time(2000)},
               .drafter = {.noise = 0.1, .level = Time(300)},
               .tuning = {.threshold = 0.5F, .deadline_us = 10'000},
               .spread = kJoin / 2,
               .timed = true});
  const auto began = std::chrono::steady_clock::now();
  fleet.time().run_until(kJoin / 2 + milliseconds(500));  // the routers first
  fleet.scale(Kind::verifier, size.verifiers);
  fleet.scale(Kind::drafter, size.drafters);
  const Time from = fleet.time().now() + kJoin, measured = from + kWarm;
  const Time to = measured + Time(static_cast<int64_t>(1e6 * size.seconds));
  ask_steadily(fleet, size, from, to);
  fleet.time().run_until(measured);
  const Work routers = work_of<RouterLife>(fleet), verifiers = work_of<VerifierLife>(fleet),
             drafters = work_of<DrafterLife>(fleet);
  const LinkTallies sent = fleet.links();
  const uint64_t happened = fleet.time().happened();
  fleet.time().run_until(to);
  const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  fmt::print(
      "{} routers, {} verifiers, {} drafters: {} s of virtual time measured, {:.0f} s of real time in all, {:.0f} MiB, "
      "{:.2f} million happenings a virtual second\n",
      size.routers, size.verifiers, size.drafters, size.seconds, took, resident_mib(),
      static_cast<double>(fleet.time().happened() - happened) * 1e-6 / size.seconds);
  const auto rate = [&](size_t boundary) {
    return static_cast<double>(fleet.links().sent[boundary] - sent.sent[boundary]) / size.seconds;
  };
  fmt::print("  messages a second: control {:.0f}, generate {:.0f}, draft {:.0f}\n", rate(0), rate(1), rate(2));
  print("router", routers, work_of<RouterLife>(fleet), size.seconds);
  print("verifier", verifiers, work_of<VerifierLife>(fleet), size.seconds);
  print("drafter", drafters, work_of<DrafterLife>(fleet), size.seconds);
  print_connections(fleet, size);
  fmt::print("  a heartbeat has {} bytes, with 64 drafters' gains {}, with 128 {}\n", heartbeat_bytes(0), heartbeat_bytes(64),
             heartbeat_bytes(128));
  print_page<RouterLife>("router", fleet, [](const RouterCounters& c, Exposition& page) { add_router_metrics(c, page); });
  print_page<VerifierLife>("verifier", fleet,
                           [](const VerifierCounters& c, Exposition& page) { add_verifier_metrics(c, page); });
  print_page<DrafterLife>("drafter", fleet, [](const DrafterCounters& c, Exposition& page) { add_drafter_metrics(c, page); });
}

}  // namespace
}  // namespace slipstream::sim

int main(int argc, char** argv) {
  slipstream::sim::Size size;
  CLI::App app("A deployment of many processes in virtual time, and what each of them has to do");
  app.add_option("--routers", size.routers)->capture_default_str()->check(CLI::Range(1, 1000));
  app.add_option("--verifiers", size.verifiers)->capture_default_str()->check(CLI::Range(1, 10000));
  app.add_option("--drafters", size.drafters)->capture_default_str()->check(CLI::Range(1, 100000));
  app.add_option("--seconds", size.seconds, "of virtual time that are measured")->capture_default_str();
  app.add_option("--per-verifier", size.per_verifier, "requests a second for each verifier")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  slipstream::sim::run(size);
  return 0;
}
