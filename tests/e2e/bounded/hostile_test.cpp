// Hostile peers attack one kind after the other, under eight streams. No word changes, every
// request is served, and the memory of every process stays within a bound. HostilePeersLong does
// the same for longer, with 10,000 connections (`make check`).
#include <sys/resource.h>

#include <atomic>
#include <thread>

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "common/base/limits.h"
#include "common/runtime/incarnation.h"
#include "common/wire/codec.h"
#include "common/zmq/envelope.h"
#include "common/zmq/open_files.h"
#include "tests/e2e/support/load.h"
#include "tests/e2e/support/memory.h"
#include "tests/zmtp/zmtp_peer.h"

namespace slipstream::e2e {
namespace {

using std::chrono::milliseconds;

constexpr int kTokens = 150;
// The memory that each process may add to what it had before the first attack. A sanitizer keeps
// freed memory and records of its own.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr double kGrowthMaxMiB = 2048;
#else
constexpr double kGrowthMaxMiB = 256;
#endif
// What whole messages of empty frames may add, before the first of them is read: they take 32 times
// their bytes on the wire (limits.h, adr/0006). malloc keeps it for later.
constexpr double kEmptyFramesMaxMiB = kGrowthMaxMiB + 32.0 * kHeldBytesMax / (1 << 20);
constexpr double kPauseMaxSeconds = 5;

using Attack = std::function<void(const std::stop_token&)>;

std::string text(std::span<const std::byte> bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

std::string message(Incarnation sender, Boundary boundary, const std::string& payload) {
  return zmtp_frame(text(pack({boundary, sender})), true) + zmtp_frame(payload, false);
}

// Connects again whenever it is cut. Each connection repeats the same message.
void besiege(const std::stop_token& stop, uint16_t port, const std::function<std::string()>& part) {
  while (!stop.stop_requested()) {
    try {
      const ZmtpPeer peer = ZmtpPeer::connect(port);
      const std::string bytes = part();
      while (!stop.stop_requested() && peer.send(bytes)) {
      }
    } catch (const std::runtime_error&) {  // cut in the handshake
    }
  }
}

Attack endless(uint16_t port, size_t frame_bytes) {
  return [=](const std::stop_token& stop) { besiege(stop, port, [=] { return endless_part(frame_bytes); }); };
}

// Messages that end, after a hundred thousand frames.
Attack many_frames(uint16_t port) {
  return [port](const std::stop_token& stop) {
    besiege(stop, port,
            [] { return message(random_incarnation(), Boundary::draft, "").append(endless_part(0)) + zmtp_frame("", false); });
  };
}

// Each connection is a stranger that sends heartbeats and never reads the answers.
Attack valid_flood(uint16_t port) {
  return [port](const std::stop_token& stop) {
    besiege(stop, port, [] {
      const Incarnation self = random_incarnation();
      const std::string one = message(self, Boundary::control, text(wire::encode(ControlMessage(WorkerHeartbeat{}))));
      std::string part;
      while (part.size() < 256 * 1024) part += one;
      return part;
    });
  };
}

Attack garbage_flood(uint16_t port) {
  return [port](const std::stop_token& stop) {
    besiege(stop, port,
            [] { return message(random_incarnation(), Boundary::draft, std::string(kDraftFrameBytesMax, '\xA5')); });
  };
}

// Many connections that say nothing until they are told to stop. A connection that is cut is not
// replaced.
Attack crowd(const std::function<ZmtpPeer()>& connect, int count, std::atomic<int>& connected) {
  return [=, &connected](const std::stop_token& stop) {
    std::vector<ZmtpPeer> peers;
    while (!stop.stop_requested()) {
      if (static_cast<int>(peers.size()) >= count) {
        std::this_thread::sleep_for(milliseconds(10));
        continue;
      }
      try {
        peers.push_back(connect());
        ++connected;
      } catch (const std::runtime_error&) {  // refused: try again
      }
    }
  };
}

class Siege {
 public:
  explicit Siege(milliseconds each) : each_(each) {
    allow_open_files();
    cluster_.start_router();
    cluster_.start_verifier({"--threads", "1"});
    cluster_.start_drafter();
    cluster_.wait_ports("verifier");
    cluster_.wait_ready();
    cluster_.wait_drafter();
    load_.emplace(cluster_, eight_questions(kTokens));
    fmt::print("{:<34} {:>8} {:>6} {:>9}   resident MiB: before, peak, after of {}\n", "attack", "answers", "cut", "pause",
               fmt::join(kServices, ", "));
  }

  uint16_t router() const { return cluster_.bind_port("router"); }
  uint16_t drafter() const { return cluster_.bind_port("drafter"); }
  uint16_t http() const { return cluster_.http_port(); }
  Cluster& cluster() { return cluster_; }

  void attack(
      const std::string& name, const std::vector<Attack>& attacks, const std::function<bool()>& done = [] { return true; },
      double growth_max_mib = kGrowthMaxMiB) {
    await_answers(8);
    load_->report();
    std::vector<Memory> before;
    for (const char* service : kServices) {
      forget_peak(pid(service));
      before.push_back(memory_of(pid(service)));
    }
    {
      std::vector<std::jthread> attackers;
      for (const Attack& attack : attacks) attackers.emplace_back([&attack](const std::stop_token& stop) { attack(stop); });
      std::this_thread::sleep_for(each_);  // the attack
      await_answers(8);
      cluster_.wait(name, done);
      for (std::jthread& attacker : attackers) attacker.request_stop();
    }
    await_answers(8);
    if (in_peace_.empty()) in_peace_ = before;
    judge(name, before, growth_max_mib);
  }
  // Whole messages of empty frames: what malloc keeps of them counts for no later attack.
  void attack_with_empty_frames(const std::string& name, const Attack& frames) {
    attack(name, {frames}, [] { return true; }, kEmptyFramesMaxMiB);
    in_peace_.clear();
  }

  // done: the attack goes on until then.
  void attack_scripted(const std::string& script, const std::function<bool()>& done = [] { return true; }) {
    cluster_.start_scripted(script, {}, "hostile");
    attack("a drafter: " + script, {}, done);
    cluster_.kill("hostile", SIGKILL);
  }

 private:
  static constexpr const char* kServices[] = {"router", "verifier", "drafter"};

  pid_t pid(const char* service) { return cluster_.process(service).pid(); }

  void judge(const std::string& name, const std::vector<Memory>& before, double growth_max_mib) {
    const LoadReport report = load_->report();
    std::string memory;
    for (size_t i = 0; i < before.size(); ++i) {
      const Memory after = memory_of(pid(kServices[i]));
      memory += fmt::format("  {:6.1f} {:6.1f} {:6.1f}", before[i].now, after.peak, after.now);
      EXPECT_LT(after.peak - in_peace_[i].now, growth_max_mib) << name << ": " << kServices[i];
    }
    fmt::print("{:<34} {:>8} {:>6} {:>6.0f} ms {}\n", name, report.answers, report.cut, report.longest_pause_s * 1000, memory);
    std::fflush(stdout);
    EXPECT_TRUE(report.wrong.empty()) << name << ": " << fmt::format("{}", fmt::join(report.wrong, "\n"));
    EXPECT_EQ(report.cut, 0) << name << ": " << fmt::format("{}", fmt::join(report.errors, "\n"));
    EXPECT_LT(report.longest_pause_s, kPauseMaxSeconds) << name;
  }

  void await_answers(int count) {
    const int before = load_->answers();
    cluster_.wait("answers", [&] { return load_->answers() >= before + count; });
  }

  const milliseconds each_;
  Cluster cluster_{tiny_model()};
  std::optional<Load> load_;
  std::vector<Memory> in_peace_;
};

void crowd_at(Siege& siege, const std::string& name, const std::function<ZmtpPeer()>& connect, int connections) {
  constexpr int kThreads = 8;
  std::atomic<int> connected = 0;
  const std::vector<Attack> attacks(kThreads, crowd(connect, connections / kThreads, connected));
  siege.attack(fmt::format("{} connections to {}", connections, name), attacks, [&] { return connected >= connections; });
}

void run(milliseconds each, int connections) {
  Siege siege(each);
  siege.attack("none", {});
  siege.attack("endless message, router, 0 B", {endless(siege.router(), 0)});
  siege.attack("endless message, router, 60 kB", {endless(siege.router(), 60'000)});
  siege.attack("endless message, drafter, 0 B", {endless(siege.drafter(), 0)});
  siege.attack("endless message, drafter, 60 kB", {endless(siege.drafter(), 60'000)});
  siege.attack_with_empty_frames("messages of many frames, router", many_frames(siege.router()));
  siege.attack("valid flood, router", {valid_flood(siege.router())});
  siege.attack("garbage flood, router", {garbage_flood(siege.router())});
  siege.attack("garbage flood, drafter", {garbage_flood(siege.drafter())});
  const auto joined = [&] {
    return siege.cluster().metrics("router").sum(metric::kRouterWorkers.name, {"role=\"drafter\""}) == 2;
  };
  const auto cut_off = [&] {
    return siege.cluster().metrics("verifier").sum(metric::kNodeConnectionsCut.name, {"why=\"held\""}) >= kStrikesMax;
  };
  siege.attack_scripted("endless", cut_off);
  siege.attack_scripted("deaf", joined);
  siege.attack_scripted("malformed");
  crowd_at(siege, "router", [&] { return ZmtpPeer::connect(siege.router()); }, connections);
  crowd_at(siege, "http", [&] { return ZmtpPeer::connect_silently(siege.http()); }, connections);
  siege.attack("none", {});
  const Samples router = siege.cluster().metrics("router"), drafter = siege.cluster().metrics("drafter"),
                verifier = siege.cluster().metrics("verifier");
  const auto cut = [](const Samples& page, const char* why) {
    return page.sum(metric::kNodeConnectionsCut.name, {fmt::format("why=\"{}\"", why)});
  };
  for (const char* why : {"held", "speechless", "too_many", "frames"}) {
    fmt::print("cut for {}: router {}, verifier {}, drafter {}\n", why, cut(router, why), cut(verifier, why),
               cut(drafter, why));
  }
  EXPECT_GT(cut(router, "held"), 0);
  EXPECT_GT(cut(router, "frames"), 0);
  EXPECT_GT(cut(router, "too_many"), 0);
  EXPECT_GT(cut(drafter, "held"), 0);
  EXPECT_EQ(cut(verifier, "held"), kStrikesMax) << "then the drafter is quarantined";
}

TEST(HostilePeers, PeersChangeNoWordAndStayBounded) { run(milliseconds(1000), 2 * kConnectionsMax); }

TEST(HostilePeersLong, PeersChangeNoWordAndStayBounded) { run(milliseconds(10'000), 10'000); }

}  // namespace
}  // namespace slipstream::e2e
