#include "tests/e2e/support/cluster.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <fstream>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

#include "common/config/cpu_quota.h"

namespace slipstream::e2e {
namespace {

using command::kAnswerTimeout;

constexpr std::chrono::milliseconds kLook{10};  // between two looks at a condition
constexpr std::chrono::milliseconds kPageTimeout{5000};
constexpr std::streamoff kLogTailBytes = 4000;

const std::filesystem::path kSource = SLIPSTREAM_SOURCE_FOLDER;
const std::filesystem::path kBuild = SLIPSTREAM_BUILD_FOLDER;

template <class T>
T take(Result<T> result, const std::string& what) {
  if (!result) throw std::runtime_error(what + ": " + result.error().message);
  return *std::move(result);
}

uint16_t free_port() {
  const int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  const bool found = bind(probe, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                     getsockname(probe, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  close(probe);
  if (!found) throw std::runtime_error("no free port");
  return ntohs(address.sin_port);
}

std::string loopback_endpoint(uint16_t port) { return fmt::format("tcp://127.0.0.1:{}", port); }

std::filesystem::path fresh_folder() {
  static std::atomic<int> count = 0;
  auto folder = std::filesystem::temp_directory_path() / fmt::format("slipstream-e2e-{}-{}", getpid(), count++);
  std::filesystem::remove_all(folder);  // left by an earlier process with the same pid
  std::filesystem::create_directories(folder);
  return folder;
}

}  // namespace

std::filesystem::path tiny_model() { return kSource / "tests/data/tiny-llama"; }
std::filesystem::path tiny_model_with_room() { return kSource / "tests/data/tiny-llama-long"; }

std::filesystem::path chat_model() {
  const char* chosen = std::getenv("SLIPSTREAM_TEST_MODEL");
  std::filesystem::path model = chosen != nullptr ? std::filesystem::path(chosen) : kSource / "models/smollm2-135m-instruct";
  if (!std::filesystem::exists(model / "config.json")) {
    throw std::runtime_error("there is no model in " + model.string() + "; run `make setup`, or set SLIPSTREAM_TEST_MODEL");
  }
  return model;
}

int cpus() { return cpu_quota(); }

Cluster::Cluster(std::filesystem::path model) : folder_(fresh_folder()), model_(std::move(model)) {}

Cluster::~Cluster() {
  for (auto& [service, process] : processes_) process.signal(SIGKILL);
  for (auto& [service, process] : processes_) process.wait(kWaitMax);
  for (const auto& [service, process] : processes_) check_log(service);
  if (testing::Test::HasFailure()) {
    fmt::print("the logs stay in {}\n", folder_.string());
  } else {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
}

void Cluster::make_keys(const std::vector<std::string>& names) {
  Flags flags{"keys", "new", keys().string()};
  flags.insert(flags.end(), names.begin(), names.end());
  Process maker =
      take(Process::start({kBuild / "tools/slipstream/slipstream", std::move(flags), {}, file("keys", ".log")}), "keys");
  const auto exit = maker.wait(kWaitMax);
  if (!exit || exit->signal != 0 || exit->status != 0) throw std::runtime_error("no keys: " + log("keys"));
  keyed_ = true;
}

void Cluster::reserve_router_port(const std::string& as) { binds_[as] = loopback_endpoint(free_port()); }

void Cluster::start_router(Flags flags, const std::string& as) {
  const bool again = ports_.contains(as);
  const int http = again ? ports_[as].http : 0;
  const std::string bind = binds_.contains(as) ? binds_[as] : "tcp://127.0.0.1:0";
  flags.insert(flags.begin(), {"--http", fmt::format("127.0.0.1:{}", http), "--bind", bind});
  // On a busy machine a test waits for its answers, and is not refused.
  if (std::ranges::find(flags, "--queue-wait-ms") == flags.end()) flags.insert(flags.end(), {"--queue-wait-ms", "0"});
  start(as, kBuild / "services/router/slipstream-router", std::move(flags));
  wait_ports(as);
  binds_[as] = ports_[as].bind;
}

void Cluster::start_proxy(const std::string& before, Flags faults) {
  const std::string name = "proxy-" + before;
  binds_[before] = loopback_endpoint(free_port());
  faults.insert(faults.end(), {"--upstream", binds_[before], "--tally-file", file(name, ".tally").string()});
  start_process(name, kBuild / "tests/e2e/faults/fault_proxy", std::move(faults));
  wait_ports(name);
  doors_[before] = ports_[name].bind;
}

faults::Tally Cluster::tally(const std::string& before) {
  const std::string name = "proxy-" + before;
  std::filesystem::remove(file(name, ".tally"));
  process(name).signal(SIGUSR1);
  wait(name + "'s tally", [&] { return std::filesystem::exists(file(name, ".tally")); });
  return take(faults::read_tally(file(name, ".tally")), name);
}

Cluster::Flags Cluster::with_routers(Flags flags) const {
  for (const auto& [service, bind] : binds_) {
    const auto door = doors_.find(service);
    if (service.starts_with("router")) flags.insert(flags.end(), {"--router", door == doors_.end() ? bind : door->second});
  }
  return flags;
}

Cluster::Flags Cluster::with_door(const std::string& drafter, Flags flags) const {
  if (const auto door = doors_.find(drafter); door != doors_.end())
    flags.insert(flags.end(), {"--bind", binds_.at(drafter), "--advertise", door->second});
  return flags;
}

constexpr std::string_view kResident = "resident+";

Cluster::Flags free_draft_nodes(Cluster::Flags more) {
  more.insert(more.end(), {"--step-cost-us", "1000"});
  return more;
}

Cluster::Flags verify_every_draft(Cluster::Flags more) {
  more.insert(more.end(), {"--wait-percent", "100000"});
  return free_draft_nodes(std::move(more));
}

void Cluster::start_verifier(Flags flags, const std::string& as) {
  if (std::ranges::find(flags, "--threads") == flags.end()) flags.insert(flags.end(), {"--threads", std::to_string(cpus())});
  // Most tests are about drafters: what those guess must not be the resident method's guesses, too.
  if (std::ranges::find(flags, "--resident") == flags.end()) flags.insert(flags.end(), {"--resident", "none"});
  start(as, kBuild / "services/verifier/slipstream-verifier", with_routers(std::move(flags)));
}

void Cluster::start_drafter(Flags flags, const std::string& as) {
  start(as, kBuild / "services/drafter/slipstream-drafter", with_routers(with_door(as, std::move(flags))));
}

void Cluster::start_scripted(const std::string& script, Flags flags, const std::string& as) {
  flags.insert(flags.begin(), {"--script", script});
  start(as, kBuild / "tests/e2e/scripted/scripted_drafter", with_routers(with_door(as, std::move(flags))));
}

void Cluster::start_all(const std::string& who, bool wait) {
  const bool resident = who.starts_with(kResident);
  const std::string drafter = resident ? who.substr(kResident.size()) : who;
  // The verifier waits for drafters that answer at once, however slow the machine is, so that their
  // drafts are verified.
  const bool patient = wait || drafter == "oracle" || drafter == "random" || drafter == "small-lm";
  start_router(patient ? Flags{"--deadline-us", "1000000"} : Flags{});
  Flags verifier = patient ? verify_every_draft() : who == "none" ? Flags{} : free_draft_nodes();
  if (resident) verifier.insert(verifier.end(), {"--resident", "ngram"});
  start_verifier(std::move(verifier));
  if (drafter == "ngram" || drafter == "small-lm")
    start_drafter({"--method", drafter});
  else if (drafter != "none")
    start_scripted(drafter, drafter == "oracle" ? Flags{"--answers", (folder_ / "answers.json").string()} : Flags{});
  wait_ports("verifier");
  wait_ready();
  if (drafter != "none") wait_drafter();
}

void Cluster::start(const std::string& service, const std::filesystem::path& program, Flags flags) {
  if (std::ranges::find(flags, "--model") == flags.end()) flags.insert(flags.end(), {"--model", model_.string()});
  if (keyed_ && std::ranges::find(flags, "--key") == flags.end()) {
    flags.insert(flags.end(), {"--key", (keys() / (service + ".key")).string(), "--peers", (keys() / "peers").string()});
  }
  start_process(service, program, std::move(flags));
}

void Cluster::start_process(const std::string& name, const std::filesystem::path& program, Flags flags) {
  if (processes_.erase(name) > 0) check_log(name);
  std::filesystem::remove(file(name, ".ports"));
  flags.insert(flags.end(), {"--port-file", file(name, ".ports").string()});
  processes_.emplace(name, take(Process::start({program, std::move(flags), {}, file(name, ".log")}), name));
}

void Cluster::wait_ports(const std::string& service) {
  wait(service + "'s ports", [&] {
    const auto ports = command::read_ports(file(service, ".ports"));
    if (ports) ports_[service] = *ports;
    if (const auto exit = process(service).ended(); exit && !ports)
      throw std::runtime_error(service + " " + exit->words() + logs());
    return ports.has_value();
  });
}

void Cluster::wait_ready() {
  wait("/ready", [this] {
    const auto reply = client().get("/ready");
    return reply && reply->status == 200;
  });
}

void Cluster::wait_drafter() {
  wait_ports("drafter");
  wait("the drafter to join", [this] {
    const auto reply = client().get("/ready");
    return reply && reply->body.find(R"("drafters":0)") == std::string::npos && reply->status == 200;
  });
}

void Cluster::wait(const std::string& what, const std::function<bool()>& condition) const {
  const auto deadline = std::chrono::steady_clock::now() + kWaitMax;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error("waited in vain for " + what + logs());
    std::this_thread::sleep_for(kLook);
  }
}

void Cluster::kill(const std::string& service, int signal) {
  process(service).signal(signal);
  if (!process(service).wait(kWaitMax))
    throw std::runtime_error(service + " survives signal " + std::to_string(signal) + logs());
}

uint16_t Cluster::bind_port(const std::string& service) const {
  const std::string& bind = ports_.at(service).bind;
  return static_cast<uint16_t>(std::stoi(bind.substr(bind.rfind(':') + 1)));
}

http::Client Cluster::client(const std::string& router) const { return {"127.0.0.1", http_port(router), kAnswerTimeout}; }

const std::string& Cluster::model_name() {
  if (model_name_.empty()) {
    http::Client router = client();
    model_name_ = take(command::served_model(router), "/v1/models").name;
  }
  return model_name_;
}

http::Reply Cluster::page(const std::string& service, const std::string& path) const {
  const Ports& ports = ports_.at(service);
  http::Client client("127.0.0.1", service.starts_with("router") ? ports.http : ports.metrics, kPageTimeout);
  return take(client.get(path), service + "'s " + path);
}

std::string Cluster::metrics_page(const std::string& service) const { return page(service, "/metrics").body; }

std::string Cluster::log(const std::string& service) const {
  std::ifstream log(file(service, ".log"));
  return {std::istreambuf_iterator<char>(log), {}};
}

Samples Cluster::metrics(const std::string& service) const { return Samples(metrics_page(service)); }

Samples Cluster::settled_verifier() const {
  wait("the verifier to settle", [this] {
    const Samples now = metrics("verifier");
    const double started = now.sum(metric::kVerifierSequencesStarted.name);
    return started > 0 && now.sum(metric::kVerifierSequencesEnded.name) == started &&
           started >= metrics("router").sum(metric::kRouterSubmitted.name);
  });
  return metrics("verifier");
}

Answer Cluster::ask(const Question& question, const std::function<void(const Piece&)>& piece) {
  http::Client router = client();
  auto answer = command::ask(router, model_name(), question, [&](const Piece& each) {
    piece(each);
    return true;
  });
  if (!answer) throw std::runtime_error(answer.error().message + logs());
  return *std::move(answer);
}

std::vector<Answer> Cluster::ask_all(const std::vector<Question>& questions, int connections) {
  model_name();
  std::vector<Answer> answers(questions.size());
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  std::string error;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < connections; ++i) {
      threads.emplace_back([&] {
        http::Client router = client();
        for (size_t at = next++; at < questions.size(); at = next++) {
          auto answer = command::ask(router, model_name_, questions[at], [](const Piece&) { return true; });
          if (answer) {
            answers[at] = *std::move(answer);
          } else {
            std::lock_guard lock(mutex);
            error = answer.error().message;
          }
        }
      });
    }
  }
  if (!error.empty()) throw std::runtime_error(error + logs());
  return answers;
}

std::filesystem::path Cluster::file(const std::string& service, const char* suffix) const {
  return folder_ / (service + suffix);
}

// A sanitizer writes its findings to the log. The process may have gone on, or its end may have
// been expected.
void Cluster::check_log(const std::string& service) const {
  std::ifstream log(file(service, ".log"));
  for (std::string line; std::getline(log, line);) {
    for (const char* finding :
         {"ERROR: AddressSanitizer", "ERROR: LeakSanitizer", "WARNING: ThreadSanitizer", "runtime error:"}) {
      if (line.find(finding) == std::string::npos) continue;
      std::ostringstream rest;
      rest << log.rdbuf();
      ADD_FAILURE() << service << ": " << line << "\n" << rest.str();
      return;
    }
  }
}

std::string Cluster::logs() const {
  std::string text;
  for (const auto& [service, process] : processes_) {
    std::ifstream log(file(service, ".log"), std::ios::ate);
    log.seekg(std::max<std::streamoff>(0, log.tellg() - kLogTailBytes));
    std::ostringstream tail;
    tail << log.rdbuf();
    text += fmt::format("\n--- {}\n{}", service, tail.str());
  }
  return text;
}

}  // namespace slipstream::e2e
