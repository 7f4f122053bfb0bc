// Measures what the connection costs: an Advance there, a Tree of eight nodes back, through codec,
// loop and transport, without any model. Once between two processes over ZmqTransport, once between
// two threads over MemoryTransport.
//   build/release/bench/round_trip --rounds 5000 --gap-us 0      back to back
//   build/release/bench/round_trip --rounds 500 --gap-us 5000    as between verify steps: all threads sleep in between
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <latch>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "common/runtime/actor_loop.h"
#include "common/runtime/memory_transport.h"
#include "common/zmq/zmq_transport.h"

namespace slipstream {
namespace {

constexpr Peer kEcho{1};
constexpr Incarnation kAskerLife = 2, kEchoLife = 3;
constexpr size_t kNodes = 8;

// Answers each Advance with a Tree.
struct Echo {
  using Event = std::variant<Woke, From<Advance>, From<Unknown>>;
  using Effect = std::variant<WakeAt, To<Tree>>;
  void on(Event event, Time, std::vector<Effect>& effects) {
    auto* advance = std::get_if<From<Advance>>(&event);
    if (!advance) return;
    Tree tree{.fence = advance->message.fence, .nodes = std::vector<TreeNode>(kNodes)};
    for (size_t n = 0; n < kNodes; ++n) tree.nodes[n] = {.token = 100, .parent = static_cast<int>(n) - 1, .survival = 0.5F};
    effects.push_back(To<Tree>{advance->peer, std::move(tree)});
  }
  int counters() const { return 0; }
};

struct Done {};

// Sends Advances one after the other and records how long each Tree takes.
struct Asker {
  using Event = std::variant<Woke, PeerUp, From<Tree>, From<Unknown>>;
  using Effect = std::variant<Connect, WakeAt, To<Advance>, Done>;
  void on(Event event, Time now, std::vector<Effect>& effects) {
    if (std::holds_alternative<PeerUp>(event)) return ask(now, effects);
    if (std::holds_alternative<From<Tree>>(event)) {
      took_us.push_back(static_cast<double>((now - asked).count()));
      if (static_cast<int>(took_us.size()) == rounds) return effects.push_back(Done{});
      if (gap == Time(0)) return ask(now, effects);
      effects.push_back(WakeAt{now + gap});
      // Woke: the first one connects, later ones end a pause.
    } else if (std::exchange(connected, true)) {
      ask(now, effects);
    } else {
      effects.push_back(Connect{kEcho, endpoint});
    }
  }
  void ask(Time now, std::vector<Effect>& effects) {
    asked = now;
    effects.push_back(To<Advance>{kEcho, Advance{.fence = {.round = static_cast<Round>(took_us.size())}, .tokens = {1, 2, 3}}});
  }
  int counters() const { return 0; }

  std::string endpoint;
  int rounds = 0;
  Time gap{0};
  bool connected = false;
  Time asked{0};
  std::vector<double> took_us;
};

void ask_and_report(const char* name, Asker asker, Transport& transport) {
  std::latch done(1);
  const auto finish = [&done](Done) { done.count_down(); };
  ActorLoop<Asker, NoJob, NoJob, decltype(finish)> loop(asker, transport, {}, finish);
  std::jthread thread([&](const std::stop_token& stop) { loop.run(stop); });
  done.wait();
  thread.request_stop();
  thread.join();
  std::ranges::sort(asker.took_us);
  const auto at = [&](double share) {
    return asker.took_us[static_cast<size_t>(share * static_cast<double>(asker.took_us.size() - 1))];
  };
  fmt::print("{:<28} gap {:>5} us   p50 {:>5.0f} us   p99 {:>5.0f} us   max {:>6.0f} us\n", name, asker.gap.count(), at(0.5),
             at(0.99), at(1));
}

int over_zmq(Asker asker) {
  int ends[2];
  if (pipe(ends) != 0) return 1;
  const pid_t child = fork();
  if (child == 0) {
    const auto transport = ZmqTransport::open({.self = kEchoLife, .bind = "tcp://127.0.0.1:0"});
    if (!transport) _exit(1);
    const std::string endpoint = (*transport)->bound_endpoint();
    if (write(ends[1], endpoint.data(), endpoint.size()) < 0) _exit(1);
    close(ends[1]);
    Echo echo;
    ActorLoop<Echo> loop(echo, **transport);
    loop.run({});  // until killed
  }
  char endpoint[64] = {};
  const auto size = read(ends[0], endpoint, sizeof endpoint - 1);
  const auto transport = ZmqTransport::open({.self = kAskerLife});
  if (size <= 0 || !transport) return 1;
  asker.endpoint = endpoint;
  ask_and_report("two processes, ZeroMQ", std::move(asker), **transport);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return 0;
}

void over_memory(Asker asker) {
  MemoryHub hub;
  const auto echo_transport = hub.open(kEchoLife, "memory://echo");
  const auto transport = hub.open(kAskerLife);
  Echo echo;
  ActorLoop<Echo> loop(echo, *echo_transport);
  std::jthread other([&](std::stop_token stop) { loop.run(stop); });
  asker.endpoint = "memory://echo";
  ask_and_report("two threads, memory", std::move(asker), *transport);
}

}  // namespace
}  // namespace slipstream

int main(int argc, char** argv) {
  CLI::App app("Time of an Advance and its Tree without a model");
  int rounds = 2000, gap_us = 0;
  app.add_option("--rounds", rounds, "how many round trips")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--gap-us", gap_us, "pause between them, microseconds")->check(CLI::NonNegativeNumber)->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  slipstream::Asker asker{.rounds = rounds, .gap = slipstream::Time(gap_us)};
  if (slipstream::over_zmq(asker) != 0) return 1;
  slipstream::over_memory(asker);
  return 0;
}
