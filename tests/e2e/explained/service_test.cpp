// Each program alone, and the `slipstream` commands around them: what they print, and that they
// leave nothing behind.
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <optional>
#include <sstream>

#include <gtest/gtest.h>

#include "common/http/server.h"
#include "tests/e2e/support/cluster.h"
#include "tests/unit/common/http/certificate.h"

namespace slipstream::e2e {
namespace {

const std::filesystem::path kBuild = SLIPSTREAM_BUILD_FOLDER;

struct Ended {
  int status = -1;
  std::string output;
};

std::string contents(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

class Service : public testing::Test {
 protected:
  Service() : folder_(std::filesystem::temp_directory_path() / ("slipstream-service-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~Service() override { std::filesystem::remove_all(folder_); }

  Process start(const std::filesystem::path& program, std::vector<std::string> arguments) {
    auto process = Process::start({program, std::move(arguments), {}, log()});
    if (!process) throw std::runtime_error(process.error().message);
    return *std::move(process);
  }
  Ended run(const std::filesystem::path& program, std::vector<std::string> arguments) {
    std::filesystem::remove(log());
    Process process = start(program, std::move(arguments));
    const auto exit = process.wait(kWaitMax);
    return {exit ? exit->status : -1, contents(log())};
  }
  std::filesystem::path log() const { return folder_ / "log"; }
  std::vector<std::string> on_tiny_model(std::vector<std::string> first) const {
    first.insert(first.end(), {"--model", tiny_model().string(), "--run-folder", (folder_ / "run").string()});
    return first;
  }
  std::filesystem::path slipstream() const { return kBuild / "tools/slipstream/slipstream"; }

  std::filesystem::path folder_;
};

std::filesystem::path program_of(const std::string& service) {
  return kBuild / "services" / service / ("slipstream-" + service);
}

// The processes whose parent is `parent` or one of its threads.
std::vector<pid_t> children(pid_t parent) {
  std::vector<pid_t> pids;
  for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(parent) + "/task")) {
    std::ifstream list(task.path() / "children");
    for (pid_t pid = 0; list >> pid;) pids.push_back(pid);
  }
  return pids;
}

// The child that runs `service`; nullopt if there is none. The kernel keeps 15 letters of a
// program's name.
std::optional<pid_t> child(pid_t parent, const std::string& service) {
  for (pid_t pid : children(parent)) {
    if (contents("/proc/" + std::to_string(pid) + "/comm") == ("slipstream-" + service).substr(0, 15) + "\n") return pid;
  }
  return {};
}

bool gone(pid_t pid) { return ::kill(pid, 0) != 0; }

void wait_for(const std::string& what, const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + kWaitMax;
  while (!condition()) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << what;
    usleep(10'000);
  }
}

TEST_F(Service, ExplainsItselfAndItsSettings) {
  for (const std::string service : {"router", "verifier", "drafter"}) {
    const Ended help = run(program_of(service), {"--help"});
    EXPECT_EQ(help.status, 0) << service;
    for (const char* flag : {"--model", "--port-file", "--log-level", "--check-config"}) {
      EXPECT_NE(help.output.find(flag), std::string::npos) << service << " " << flag;
    }
    const Ended good = run(program_of(service), {"--check-config", "--model", tiny_model().string()});
    EXPECT_EQ(good.status, 0) << good.output;
    EXPECT_NE(good.output.find(tiny_model().string()), std::string::npos) << good.output;
    const Ended bad = run(program_of(service), {"--no-such-flag"});
    EXPECT_EQ(bad.status, 2) << bad.output;
  }
  const Ended misspelt = run(slipstream(), {"serve", "--prot", "8081"});
  EXPECT_EQ(misspelt.status, 2) << misspelt.output;
  EXPECT_NE(misspelt.output.find("there is no flag --prot; did you mean --port?"), std::string::npos) << misspelt.output;
}

TEST_F(Service, RefusesAModelFolderThatIsNone) {
  for (const std::string service : {"router", "verifier", "drafter"}) {
    const Ended refused = run(program_of(service), {"--model", folder_.string()});
    EXPECT_NE(refused.status, 0) << service;
    EXPECT_NE(refused.output.find(folder_.string()), std::string::npos) << refused.output;
  }
}

// Status 2, after which a supervisor leaves it ended.
TEST_F(Service, EndsForGoodWhereEveryStartWouldFail) {
  std::filesystem::copy(tiny_model(), folder_ / "model");
  std::ofstream(folder_ / "model" / "config.json") << "{}";
  for (const std::string service : {"router", "verifier", "drafter"}) {
    const Ended refused = run(program_of(service), {"--model", (folder_ / "model").string()});
    EXPECT_EQ(refused.status, 2) << service << " " << refused.output;
  }
  const Ended all = run(slipstream(), {"serve", "--port", "0", "--model", (folder_ / "model").string(), "--run-folder",
                                       (folder_ / "run").string()});
  EXPECT_EQ(all.status, 2) << all.output;
  const Ended small = run(program_of("verifier"), {"--model", tiny_model().string(), "--cache-memory", "1KiB"});
  EXPECT_EQ(small.status, 2) << small.output;
}

TEST_F(Service, SaysBeforehandWhetherItLoads) {
  const std::string model = tiny_model().string();
  const Ended good = run(program_of("verifier"), {"--check-load", "--model", model});
  EXPECT_EQ(good.status, 0) << good.output;
  EXPECT_NE(good.output.find("the model loads, with a cache of 16384 tokens in "), std::string::npos) << good.output;
  const Ended draft = run(program_of("drafter"), {"--check-load", "--model", model, "--method", "small-lm"});
  EXPECT_EQ(draft.status, 0) << draft.output;
  EXPECT_NE(draft.output.find("it loads"), std::string::npos) << draft.output;
  for (const std::string service : {"verifier", "drafter"}) {
    // Beside these programs lies no library of torch.
    const Ended missing = run(program_of(service), {"--check-load", "--model", model, "--device", "torch-cpu",
                                                    service == "drafter" ? "--method=small-lm" : "--resident=none"});
    EXPECT_EQ(missing.status, 2) << missing.output;
    EXPECT_NE(missing.output.find("libslipstream_torch.so"), std::string::npos) << missing.output;
  }
  const Ended no_device = run(program_of("drafter"), {"--check-config", "--model", model, "--device", "torch-cpu"});
  EXPECT_EQ(no_device.status, 2) << no_device.output;
  EXPECT_NE(no_device.output.find("--device torch-cpu has no use with --method ngram"), std::string::npos) << no_device.output;
}

TEST_F(Service, EveryMetricsPageIsCleanToPromtool) {
  Cluster cluster(tiny_model());
  cluster.start_all("ngram");
  Question question;
  question.text = "abcabcabc";
  question.tokens_max = 50;
  cluster.ask(question);
  for (const std::string service : {"router", "verifier", "drafter"}) {
    std::ofstream(folder_ / "page") << cluster.metrics_page(service);
    const Ended lint = run("/bin/sh", {"-c", "promtool check metrics < " + (folder_ / "page").string()});
    EXPECT_EQ(lint.status, 0) << service << "\n" << lint.output;
    EXPECT_EQ(lint.output, "") << service;
  }
}

TEST_F(Service, ServeAnswersAndStopsWithoutALeftover) {
  Process serve = start(slipstream(), on_tiny_model({"serve", "--port", "0"}));
  wait_for("serve to be ready", [&] { return contents(log()).find("ready: ") != std::string::npos || serve.ended(); });
  ASSERT_FALSE(serve.ended()) << contents(log());
  const std::string said = contents(log());
  const std::string url = said.substr(said.find("http://"), said.find('\n', said.find("http://")) - said.find("http://"));

  std::filesystem::path answer = folder_ / "answer";
  auto ask = Process::start({slipstream(), {"ask", "hello", "--url", url, "--max-tokens", "8"}, {}, answer});
  ASSERT_TRUE(ask && ask->wait(kWaitMax));
  EXPECT_EQ(ask->ended()->status, 0) << contents(answer);
  EXPECT_GT(contents(answer).size(), 1U);
  const std::string piped = fmt::format("echo hello | {} ask --url {} --max-tokens 8", slipstream().string(), url);
  const Ended again = run("/bin/sh", {"-c", piped});
  EXPECT_EQ(again.status, 0) << again.output;
  EXPECT_EQ(again.output, contents(answer)) << "the same question from standard input";
  EXPECT_EQ(run("/bin/sh", {"-c", piped + " - < /dev/null"}).status, 1);

  const std::vector<pid_t> pids = children(serve.pid());
  EXPECT_EQ(pids.size(), 3U);
  serve.signal(SIGTERM);
  ASSERT_TRUE(serve.wait(kWaitMax));
  EXPECT_EQ(serve.ended()->status, 0) << contents(log());
  for (pid_t pid : pids) EXPECT_TRUE(gone(pid));
}

// Two neighbouring ports that are free now, below those that the system gives to others meanwhile
// (ip_local_port_range begins at 32768).
uint16_t two_free_ports() {
  for (auto port = static_cast<uint16_t>(20'000 + getpid() % 10'000);; port += 2) {
    const auto one = http::Server::listen("0.0.0.0", port, nullptr, nullptr);
    const auto next = http::Server::listen("0.0.0.0", static_cast<uint16_t>(port + 1), nullptr, nullptr);
    if (one && next) return port;
  }
}

// The ids of numerics in the logs name device, path and formats.
TEST_F(Service, ServeTellsItsWorkersWhatToComputeWith) {
  Process serve =
      start(slipstream(),
            on_tiny_model({"serve", "--port", "0", "--drafter", "small-lm", "--path", "portable", "--weights", "q6_k"}));
  wait_for("serve to be ready", [&] { return contents(log()).find("ready: ") != std::string::npos || serve.ended(); });
  EXPECT_NE(contents(log()).find("\na step of 1, 4, 8, 16 or 256 rows of one sequence takes "), std::string::npos);
  for (const char* worker : {"verifier", "drafter"}) {
    const auto said = [&, worker] {
      for (const auto& file : std::filesystem::directory_iterator(folder_ / "run/logs")) {
        if (file.path().string().ends_with(std::string(worker) + ".log")) return contents(file.path());
      }
      return std::string();
    };
    wait_for("its numerics", [&] { return said().find("cpu/portable/q6_k/") != std::string::npos || serve.ended(); });
    EXPECT_FALSE(serve.ended()) << contents(log()) << said();
  }
  serve.signal(SIGTERM);
  ASSERT_TRUE(serve.wait(kWaitMax));
}

TEST_F(Service, ServeLetsOtherMachinesInWithAKeyAndTakesAFileOfSettings) {
  const uint16_t metrics = two_free_ports();
  std::ofstream(folder_ / "keys") << "alice sk-right\n";
  std::ofstream(folder_ / "serve.toml") << "host = \"0.0.0.0\"\nport = 0\nmodel-name = \"mine\"\n[router]\nlease-ms = 5000\n";
  Process serve = start(slipstream(), on_tiny_model({"serve", "--config", (folder_ / "serve.toml").string(), "--api-key-file",
                                                     (folder_ / "keys").string(), "--metrics-port", std::to_string(metrics)}));
  wait_for("serve to be ready", [&] { return contents(log()).find("ready: ") != std::string::npos || serve.ended(); });
  ASSERT_FALSE(serve.ended()) << contents(log());
  const std::string said = contents(log());
  const size_t at = said.find("http://");
  const std::string url = said.substr(at, said.find('\n', at) - at);
  const auto ask = [&](std::vector<std::string> more) {
    std::vector<std::string> words{"ask", "hello", "--url", url + "/v1", "--max-tokens", "8"};
    words.insert(words.end(), more.begin(), more.end());
    auto process = Process::start({slipstream(), words, {}, folder_ / "answer"});
    EXPECT_TRUE(process && process->wait(kWaitMax));
    return process->ended()->status;
  };
  EXPECT_EQ(ask({"--api-key", "sk-right"}), 0) << contents(folder_ / "answer");
  EXPECT_EQ(ask({"--api-key", "sk-wrong"}), 1);
  EXPECT_NE(contents(folder_ / "answer").find("This API key is not one of this server's"), std::string::npos);
  for (const int page : {metrics + 0, metrics + 1}) {
    http::Client client("127.0.0.1", static_cast<uint16_t>(page), std::chrono::seconds(20));
    const auto scraped = client.get("/metrics");
    ASSERT_TRUE(scraped) << scraped.error().message;
    EXPECT_NE(scraped->body.find("slipstream_build_info"), std::string::npos);
  }
  const std::string port = url.substr(url.rfind(':') + 1);
  http::Client client("127.0.0.1", static_cast<uint16_t>(std::stoi(port)), std::chrono::seconds(20));
  client.set_api_key("sk-right");
  const auto workers = client.get("/workers");
  ASSERT_TRUE(workers) << workers.error().message;
  for (const int page : {metrics + 0, metrics + 1}) {
    EXPECT_NE(workers->body.find(fmt::format("\"http://127.0.0.1:{}/metrics\"", page)), std::string::npos) << workers->body;
  }
  const auto router = child(serve.pid(), "router");
  ASSERT_TRUE(router);
  const std::string words = contents("/proc/" + std::to_string(*router) + "/cmdline");
  EXPECT_NE(words.find("--lease-ms=5000"), std::string::npos);
  EXPECT_NE(words.find("mine"), std::string::npos);
}

TEST_F(Service, ServeSpeaksHttps) {
  const Certificate certificate, another;
  const auto with = [&](const std::string& key) {
    return on_tiny_model({"serve", "--port", "0", "--drafter", "none", "--tls-cert", certificate.file(), "--tls-key", key});
  };
  const Ended mixed = run(slipstream(), with(another.key_file()));
  EXPECT_EQ(mixed.status, 2);
  EXPECT_NE(mixed.output.find("exited with status 2"), std::string::npos) << mixed.output;
  EXPECT_NE(mixed.output.find("does not belong to the certificate"), std::string::npos) << mixed.output;
  std::filesystem::remove(log());
  Process serve = start(slipstream(), with(certificate.key_file()));
  wait_for("serve to be ready", [&] { return contents(log()).find("ready: ") != std::string::npos || serve.ended(); });
  ASSERT_FALSE(serve.ended()) << contents(log());
  const std::string said = contents(log());
  const size_t at = said.find("https://");
  ASSERT_NE(at, std::string::npos) << said;
  const std::string url = said.substr(at, said.find('\n', at) - at);
  const auto ask = [&](std::vector<std::string> more) {
    std::vector<std::string> words{"ask", "hello", "--url", url, "--max-tokens", "8"};
    words.insert(words.end(), more.begin(), more.end());
    auto process = Process::start({slipstream(), words, {}, folder_ / "answer"});
    EXPECT_TRUE(process && process->wait(kWaitMax));
    return process->ended()->status;
  };
  EXPECT_EQ(ask({"--cacert", certificate.file()}), 0) << contents(folder_ / "answer");
  EXPECT_EQ(ask({}), 1);
  EXPECT_NE(contents(folder_ / "answer").find("not trusted here"), std::string::npos) << contents(folder_ / "answer");
}

TEST_F(Service, ServeBringsBackWhoeverDies) {
  Process serve = start(slipstream(), on_tiny_model({"serve", "--port", "0"}));
  wait_for("serve to be ready", [&] { return contents(log()).find("ready: ") != std::string::npos || serve.ended(); });
  ASSERT_FALSE(serve.ended()) << contents(log());
  for (pid_t pid : children(serve.pid())) ::kill(pid, SIGKILL);
  for (const std::string service : {"router", "verifier", "drafter"}) {
    wait_for(service + " to come back", [&] { return contents(log()).find(service + " is back") != std::string::npos; });
  }
}

TEST_F(Service, ServeKilledLeavesNothing) {
  Process serve = start(slipstream(), on_tiny_model({"serve", "--port", "0"}));
  wait_for("serve to be ready", [&] { return contents(log()).find("ready: ") != std::string::npos || serve.ended(); });
  ASSERT_FALSE(serve.ended()) << contents(log());
  const std::vector<pid_t> pids = children(serve.pid());
  serve.signal(SIGKILL);
  ASSERT_TRUE(serve.wait(kWaitMax));
  for (pid_t pid : pids) wait_for("a service to end", [&] { return gone(pid); });
}

TEST_F(Service, ServeSaysWhatToDoWithoutAModelOrAPort) {
  const Ended no_model = run(slipstream(), {"serve", "--model", "no/such/folder"});
  EXPECT_EQ(no_model.status, 2) << "to try again would not help";
  EXPECT_NE(no_model.output.find("make setup"), std::string::npos) << no_model.output;

  Cluster cluster(tiny_model());
  cluster.start_router();
  const std::string port = std::to_string(cluster.http_port());
  const Ended taken = run(slipstream(), on_tiny_model({"serve", "--port", port}));
  EXPECT_EQ(taken.status, 1);
  EXPECT_NE(taken.output.find("port " + port + " is in use"), std::string::npos) << taken.output;
}

TEST_F(Service, DemoKillsItsDrafterAndFindsTheSameWords) {
  const Ended demo = run(slipstream(), on_tiny_model({"demo"}));
  EXPECT_EQ(demo.status, 0) << demo.output;
  EXPECT_NE(demo.output.find("kill -9"), std::string::npos) << demo.output;
  EXPECT_NE(demo.output.find("same words: yes"), std::string::npos) << demo.output;
}

// A demo in the middle of its plain answers, with its verifier stopped so that they stand still.
// nullopt: the answers were over before the test looked.
struct HeldDemo {
  Process demo;
  pid_t verifier;
};
std::optional<HeldDemo> hold_in_plain_answers(Process demo, const std::filesystem::path& log) {
  const auto says = [&](const char* words) { return contents(log).find(words) != std::string::npos; };
  wait_for("the drafter to be killed", [&] { return says("kill -9") || demo.ended(); });
  if (demo.ended()) return {};
  const auto verifier = child(demo.pid(), "verifier");
  if (!verifier) return {};
  wait_for("the plain answers", [&] {
    ::kill(*verifier, SIGSTOP);
    if (says("To compare") || demo.ended()) return true;
    ::kill(*verifier, SIGCONT);
    return false;
  });
  if (says("same words") || demo.ended()) return {};
  return HeldDemo{std::move(demo), *verifier};
}

TEST_F(Service, DemoInterruptedWithinAPlainAnswerStopsWithoutALeftover) {
  std::optional<HeldDemo> held;
  for (int look = 0; look < 20 && !held; ++look) {
    std::filesystem::remove(log());
    held = hold_in_plain_answers(start(slipstream(), on_tiny_model({"demo"})), log());
  }
  ASSERT_TRUE(held) << contents(log());
  const std::vector<pid_t> pids = children(held->demo.pid());
  EXPECT_GE(pids.size(), 2U);  // the drafter may just be restarting
  held->demo.signal(SIGINT);
  ::kill(held->verifier, SIGCONT);
  const auto exit = held->demo.wait(kWaitMax);
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->status, 1) << contents(log());
  EXPECT_NE(contents(log()).find("stopped"), std::string::npos) << contents(log());
  EXPECT_EQ(contents(log()).find("same words"), std::string::npos) << contents(log());
  for (pid_t pid : pids) EXPECT_TRUE(gone(pid));
}

}  // namespace
}  // namespace slipstream::e2e
