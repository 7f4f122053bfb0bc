// What a router costs, without a model: a verifier that only repeats tokens (toy_verifier.h), the
// real router as a process on one core, and streams over HTTP.
//
//   build/release/bench/front_door speed   tokens/s, and CPU time a token, by thread of the router
//   build/release/bench/front_door crowd   the time between tokens of normal streams, by turns alone and beside slow readers
//                                          and idle connections
//   build/release/bench/front_door idle    the memory of a connection without a request, and of one that was served
#include <sched.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "bench/http_streams.h"
#include "bench/toy_verifier.h"
#include "common/runtime/actor_loop.h"
#include "common/runtime/incarnation.h"
#include "common/zmq/open_files.h"
#include "common/zmq/zmq_transport.h"
#include "services/drafter/model_folder.h"
#include "tests/e2e/support/cluster.h"
#include "tests/e2e/support/memory.h"

namespace slipstream {
namespace {

using std::chrono::milliseconds;

struct Options {
  std::filesystem::path model = e2e::tiny_model_with_room();
  int streams = 64, seconds = 5, tokens_per_message = 1, beat_us = 0, turns = 5, slow = 1000, idle = 5000, core = 0;
};

// CPU time of each thread of a process, by the thread's name, in microseconds.
std::map<std::string, double> cpu_by_thread(pid_t pid) {
  std::map<std::string, double> times;
  const double tick_us = 1e6 / static_cast<double>(sysconf(_SC_CLK_TCK));
  for (const auto& task : std::filesystem::directory_iterator(fmt::format("/proc/{}/task", pid))) {
    std::ifstream file(task.path() / "stat");
    std::string line, skipped;
    std::getline(file, line);
    const size_t open = line.find('('), close = line.rfind(')');
    std::istringstream rest(line.substr(close + 2));
    for (int field = 0; field < 11; ++field) rest >> skipped;
    double user = 0, system = 0;
    rest >> user >> system;
    times[line.substr(open + 1, close - open - 1)] += (user + system) * tick_us;
  }
  return times;
}

void keep_on_core(pid_t pid, int core) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(static_cast<size_t>(core), &cores);
  for (const auto& task : std::filesystem::directory_iterator(fmt::format("/proc/{}/task", pid))) {
    CHECK(sched_setaffinity(std::stoi(task.path().filename()), sizeof cores, &cores) == 0, "cannot choose a core");
  }
}

// A router on one core, and a toy verifier.
class Front {
 public:
  explicit Front(const Options& options) : cluster_(options.model), toy_(toy_options(options)) {
    keep_on_core(pid(), options.core);
    auto transport = ZmqTransport::open({.self = self_});
    CHECK(transport.has_value(), "{}", transport.error().message);
    transport_ = *std::move(transport);
    thread_ = std::jthread([this](const std::stop_token& stop) { ActorLoop<ToyVerifier>(toy_, *transport_).run(stop); });
    cluster_.wait_ready();
  }
  pid_t pid() { return cluster_.process("router").pid(); }
  uint16_t port() const { return cluster_.http_port(); }
  double memory_mib() { return e2e::memory_of(pid()).now; }

 private:
  ToyOptions toy_options(const Options& options) {
    cluster_.start_router({"--log-level", "warning"});
    const auto fingerprint = read_token_fingerprint(options.model);
    CHECK(fingerprint.has_value(), "{}", fingerprint.error().message);
    return {.router = fmt::format("tcp://127.0.0.1:{}", cluster_.bind_port("router")),
            .self = self_,
            .fingerprint = *fingerprint,
            .context_max = 16'384,
            .beat = Time(options.beat_us),
            .tokens_per_message = options.tokens_per_message,
            .says = {11, 8, 15, 15, 18, 40}};  // of the tiny model: "hello "
  }

  const Incarnation self_ = random_incarnation();
  e2e::Cluster cluster_;
  ToyVerifier toy_;
  std::unique_ptr<ZmqTransport> transport_;
  std::jthread thread_;  // last: it uses the members above
};

std::string stream_request(int tokens) {
  const std::string body = fmt::format(
      R"({{"messages": [{{"role": "user", "content": "hello"}}], "stream": true, "ignore_eos": true, "max_tokens": {}}})",
      tokens);
  return fmt::format(
      "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{}",
      body.size(), body);
}

void speed(const Options& options) {
  Front front(options);
  HttpStreams streams(front.port(), stream_request(2000), options.streams);
  streams.read_for(milliseconds(1000));
  CHECK(streams.events() > 0, "no token came: does the router refuse these requests?");
  for (int turn = 0; turn < options.turns; ++turn) {
    streams.forget();
    const auto before = cpu_by_thread(front.pid());
    const auto begin = std::chrono::steady_clock::now();
    streams.read_for(milliseconds(options.seconds * 1000 / options.turns));
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    const auto tokens = static_cast<double>(streams.events()) * options.tokens_per_message;
    std::string by_thread;
    double all = 0;
    for (const auto& [name, time] : cpu_by_thread(front.pid())) {
      const auto at = before.find(name);
      const double used = (time - (at == before.end() ? 0 : at->second)) / tokens;
      all += used;
      if (used > 0.005) by_thread += fmt::format("  {} {:.2f}", name, used);
    }
    fmt::print("{:>8.0f} tokens/s   {:.2f} us of CPU a token, so {:.0f} tokens/s of one whole core:{}\n", tokens / took.count(),
               all, 1e6 / all, by_thread);
  }
}

double percentile(std::vector<float> values, double share) {
  CHECK(!values.empty(), "no token came");
  std::ranges::sort(values);
  return static_cast<double>(values[static_cast<size_t>(share * static_cast<double>(values.size() - 1))]);
}

void crowd(Options options) {
  if (options.beat_us == 0) options.beat_us = 20'000;
  Front front(options);
  HttpStreams streams(front.port(), stream_request(2000), options.streams);
  streams.read_for(milliseconds(1000));
  const auto measure = [&](const char* what) {
    streams.read_for(milliseconds(500));
    streams.forget();
    streams.read_for(milliseconds(options.seconds * 1000));
    fmt::print("{:<40} p50 {:>7.0f} us   p99 {:>7.0f} us   router {:.0f} MiB\n", what, percentile(streams.gaps_us(), 0.5),
               percentile(streams.gaps_us(), 0.99), front.memory_mib());
  };
  for (int turn = 0; turn < options.turns; ++turn) {
    measure("alone");
    Crowd others;
    for (int i = 0; i < options.idle; ++i) others.add(connect_to(front.port()));
    for (int i = 0; i < options.slow; ++i) {
      const int socket = connect_to(front.port(), 4096);
      send_whole(socket, stream_request(8000));
      others.add(socket);
      if (i % 100 == 99) streams.read_for(milliseconds(50));  // their prompts are read one after the other
    }
    measure(fmt::format("beside {} slow, {} idle", options.slow, options.idle).c_str());
  }
}

void idle(const Options& options) {
  Front front(options);
  const auto add = [&](const char* what, std::string_view request) {
    const double before = front.memory_mib();
    Crowd others;
    constexpr int kConnections = 10'000;
    for (int i = 0; i < kConnections; ++i) {
      const int socket = connect_to(front.port());
      others.add(socket);
      if (request.empty()) continue;
      send_whole(socket, request);
      char byte = 0;
      CHECK(::recv(socket, &byte, 1, MSG_WAITALL) == 1, "no answer");
    }
    HttpStreams(front.port(), stream_request(10), 1).read_for(milliseconds(500));
    fmt::print("{:<40} {:.2f} KiB a connection\n", what, (front.memory_mib() - before) * 1024 / kConnections);
  };
  add("without a request", "");
  add("again", "");
  add("kept alive after a request", "GET /version HTTP/1.1\r\nHost: localhost\r\n\r\n");
}

}  // namespace
}  // namespace slipstream

int main(int argc, char** argv) {
  using namespace slipstream;
  Options options;
  CLI::App app("What a router costs, without a model");
  app.require_subcommand(1);
  app.add_option("--model", options.model, "whose tokenizer and template the router reads")->capture_default_str();
  app.add_option("--streams", options.streams, "that are read at once")->capture_default_str();
  app.add_option("--seconds", options.seconds, "that a measurement takes")->capture_default_str();
  app.add_option("--turns", options.turns)->capture_default_str();
  app.add_option("--tokens-per-message", options.tokens_per_message)->capture_default_str();
  app.add_option("--beat-us", options.beat_us, "between two tokens of a stream; 0: as fast as it can be")
      ->capture_default_str();
  app.add_option("--slow", options.slow, "readers that take nothing")->capture_default_str();
  app.add_option("--idle", options.idle, "connections without a request")->capture_default_str();
  app.add_option("--core", options.core, "that the router runs on")->capture_default_str();
  app.add_subcommand("speed")->callback([&] { speed(options); });
  app.add_subcommand("crowd")->callback([&] { crowd(options); });
  app.add_subcommand("idle")->callback([&] { idle(options); });
  allow_open_files();
  CLI11_PARSE(app, argc, argv);
}
