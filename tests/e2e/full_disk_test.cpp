// `slipstream serve` whose run folder is on a disk that fills up, and services whose logs reach the limit on a file's size.
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "tests/e2e/cluster.h"

namespace slipstream::e2e {
namespace {

std::string contents(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

// May this user mount a small file system, in a user namespace of their own?
bool may_mount() {
  const pid_t child = fork();
  if (child == 0) _exit(unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 ? 0 : 1);
  int status = -1;
  return waitpid(child, &status, 0) == child && status == 0;
}

// serve with its run folder on a disk of 256 KiB, which only serve and its children see: /proc leads there.
class FullDisk : public testing::Test {
 protected:
  void SetUp() override {
    if (!may_mount()) GTEST_SKIP() << "this user may mount nothing";
    std::filesystem::create_directories(folder_ / "disk");
    const std::filesystem::path slipstream = std::filesystem::path(SLIPSTREAM_BUILD_FOLDER) / "tools/slipstream/slipstream";
    const std::string disk = (folder_ / "disk").string();
    const std::string line = "mount -t tmpfs -o size=256k none " + disk + " && exec " + slipstream.string() +
                             " serve --port 0 --model " + tiny_model().string() + " --run-folder " + disk;
    auto started = Process::start({"/usr/bin/unshare", {"-rm", "/bin/sh", "-c", line}, {}, folder_ / "log"});
    ASSERT_TRUE(started) << started.error().message;
    serve_.emplace(*std::move(started));
    wait("serve to be ready", [&] { return said("ready: ") || serve_->ended(); });
    ASSERT_FALSE(serve_->ended()) << log();
    disk_ = "/proc/" + std::to_string(serve_->pid()) + "/root" + disk;
    const std::string url = log().substr(log().find("http://127.0.0.1:") + 17);
    port_ = static_cast<uint16_t>(std::stoi(url));
  }
  void TearDown() override {
    serve_.reset();
    std::filesystem::remove_all(folder_);
  }

  std::string log() const { return contents(folder_ / "log"); }
  bool said(const std::string& words) const { return log().find(words) != std::string::npos; }
  void wait(const std::string& what, const std::function<bool()>& condition) const {
    const auto deadline = std::chrono::steady_clock::now() + kWaitMax;
    while (!condition()) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << what << "\n" << log();
      usleep(10'000);
    }
  }
  void fill_disk() const {
    std::ofstream file(disk_ / "fill");
    for (const std::string block(4096, 'x'); file.write(block.data(), 4096).flush();) {
    }
    ASSERT_EQ(std::filesystem::space(disk_).available, 0U);
  }
  std::filesystem::path port_file(const std::string& service) const {
    for (const auto& entry : std::filesystem::directory_iterator(disk_ / "ports")) {
      if (entry.path().string().ends_with(service + ".json")) return entry.path();
    }
    return {};
  }
  void kill(const std::string& service) const { ::kill(command::read_ports(port_file(service))->pid, SIGKILL); }
  int answer() const {
    http::Client client("127.0.0.1", port_, kWaitMax);
    const auto reply =
        client.post("/v1/chat/completions", R"({"messages": [{"role": "user", "content": "a"}], "max_tokens": 8})");
    return reply ? reply->status : -1;
  }
  // Files beside port files, of tries to write one.
  size_t leftovers() const {
    size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(disk_ / "ports")) count += entry.path().extension() == ".new";
    return count;
  }

  std::filesystem::path folder_ = std::filesystem::temp_directory_path() / ("slipstream-disk-" + std::to_string(getpid()));
  std::filesystem::path disk_;
  std::optional<Process> serve_;
  uint16_t port_ = 0;
};

TEST_F(FullDisk, KeepsNobodyFromComingBack) {
  fill_disk();
  EXPECT_EQ(answer(), 200);
  for (const std::string service : {"drafter", "verifier", "router"}) {
    kill(service);
    wait(service + " to be back", [&] { return said(service + " is back"); });
  }
  EXPECT_EQ(answer(), 200) << log();
  EXPECT_EQ(leftovers(), 0U);
  EXPECT_FALSE(said("exited with status")) << log();
}

TEST_F(FullDisk, IsSaidWhenItHappensAndWhenThereIsRoomAgain) {
  EXPECT_FALSE(said("is full")) << log();
  fill_disk();
  wait("the sentence", [&] { return said("/disk is full: "); });
  EXPECT_TRUE(said("make room there")) << log();
  std::filesystem::remove(disk_ / "fill");
  wait("the good news", [&] { return said("/disk has room again"); });
  EXPECT_EQ(log().find("is full"), log().rfind("is full")) << "once";
}

TEST_F(FullDisk, IsNamedAsTheReasonAndMendedByRoom) {
  fill_disk();
  const std::filesystem::path mine = port_file("verifier");
  const pid_t pid = command::read_ports(mine)->pid;
  std::filesystem::remove(mine);  // there is nothing to write over any more
  fill_disk();
  ::kill(pid, SIGKILL);
  wait("a second try", [&] { return said("verifier exited with status 1") && said("it starts again in 0.8 s"); });
  EXPECT_TRUE(said("No space left on device")) << log();
  EXPECT_FALSE(said("verifier is back")) << log();
  EXPECT_EQ(leftovers(), 0U);
  std::filesystem::remove(disk_ / "fill");
  wait("the verifier", [&] { return said("verifier is back"); });
  EXPECT_EQ(answer(), 200) << log();
}

TEST(FileSizeLimit, OnALogEndsNoService) {
  Cluster cluster(tiny_model());
  cluster.start_all("ngram");
  const Answer expected = cluster.ask(Question{.text = "abc", .tokens_max = 20});
  for (const std::string service : {"router", "verifier", "drafter"}) {
    rlimit limit{};
    ASSERT_EQ(prlimit(cluster.process(service).pid(), RLIMIT_FSIZE, nullptr, &limit), 0);
    limit.rlim_cur = cluster.log(service).size();
    ASSERT_EQ(prlimit(cluster.process(service).pid(), RLIMIT_FSIZE, &limit, nullptr), 0);
  }
  cluster.start_drafter({}, "drafter-2");  // routers and verifiers say so
  cluster.wait("lines that could not be written",
               [&] { return cluster.metrics("router").sum(metric::kNodeLogLinesLost.name) > 0; });
  EXPECT_EQ(cluster.ask(Question{.text = "abc", .tokens_max = 20}).ids, expected.ids);
  cluster.process("drafter").signal(SIGTERM);  // it has a line to say
  const auto exit = cluster.process("drafter").wait(kWaitMax);
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->words(), "exited with status 0");
}

}  // namespace
}  // namespace slipstream::e2e
