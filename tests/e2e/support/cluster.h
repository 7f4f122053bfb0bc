// Real services as processes, for one test: a temporary folder of their own, free ports, and
// nothing left behind. An error throws with the end of each log in its message. A test waits on
// conditions, never for a time.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/http/client.h"
#include "common/metrics/names.h"
#include "tests/e2e/faults/tally.h"
#include "tests/e2e/support/samples.h"
#include "tools/slipstream/chat_client.h"
#include "tools/slipstream/process.h"
#include "tools/slipstream/run_folder.h"

namespace slipstream::e2e {

using command::Answer;
using command::Piece;
using command::Ports;
using command::Process;
using command::Question;

std::filesystem::path tiny_model();  // a random Llama with a vocabulary of at most 64: fast, committed
// The same weights with room for 16,384 tokens. A step takes some 10 us, so a test that acts in the
// middle of an answer needs an answer of thousands of tokens.
std::filesystem::path tiny_model_with_room();
inline constexpr int kLongAnswer = 8000;                          // tokens
inline constexpr const char* kNoEnd = R"({"ignore_eos": true})";  // Question::more: no token ends the answer
std::filesystem::path chat_model();  // the 135M chat model that `make setup` fetches; throws if it is not there
int cpus();                          // that all compute threads share

inline constexpr std::chrono::seconds kWaitMax{60};

class Cluster {
 public:
  using Flags = std::vector<std::string>;

  explicit Cluster(std::filesystem::path model);
  ~Cluster();  // kills all, waits for all
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  // Each service that starts from now on has the key of its name. `slipstream keys new` makes them.
  void make_keys(const std::vector<std::string>& names);
  std::filesystem::path keys() const { return folder_ / "keys"; }

  void reserve_router_port(const std::string& as = "router");  // so that workers can start before their router
  // Puts a fault proxy before a router or drafter that has not started: all others connect to it
  // through the proxy.
  void start_proxy(const std::string& before, Flags faults);
  void start_router(Flags flags = {}, const std::string& as = "router");
  void start_verifier(Flags flags = {}, const std::string& as = "verifier");  // as: its name in this cluster
  void start_drafter(Flags flags = {}, const std::string& as = "drafter");    // the real one, look-up drafting
  void start_scripted(const std::string& script, Flags flags = {}, const std::string& as = "drafter");  // a scripted drafter
  // Starts all three and returns when all have joined. drafter: "none", "ngram", "small-lm" (with
  // the target's model), or a script of the scripted drafter ("oracle" reads
  // folder()/answers.json). "resident+" before it: the verifier drafts by look-up itself, too.
  // wait: for each of its trees, however slow the machine is; for some scripts it does so anyway.
  void start_all(const std::string& who, bool wait = false);

  void wait_ports(const std::string& service);  // until it has bound
  void wait_ready();                            // until the router can answer
  void wait_drafter();                          // until a drafter has joined
  void wait(const std::string& what, const std::function<bool()>& condition) const;

  void kill(const std::string& service, int signal);  // and waits for its end
  Process& process(const std::string& service) { return processes_.at(service); }

  uint16_t http_port(const std::string& router = "router") const { return ports_.at(router).http; }
  uint16_t bind_port(const std::string& service) const;  // where workers connect to a router, verifiers to a drafter
  const std::filesystem::path& folder() const { return folder_; }
  http::Client client(const std::string& router = "router") const;
  const std::string& model_name();
  Samples metrics(const std::string& service) const;
  faults::Tally tally(const std::string& before);  // of its proxy, until now
  Samples settled_verifier() const;                // its metrics once it has no work left
  std::string metrics_page(const std::string& service) const;
  http::Reply page(const std::string& service, const std::string& path) const;  // of the service's HTTP server
  std::string log(const std::string& service) const;                            // so far
  // The answer to a question. Throws if there is none.
  Answer ask(const Question& question, const std::function<void(const Piece&)>& piece = [](const Piece&) {});
  // Asks over `connections` connections at once. The answers are in the order of the questions.
  std::vector<Answer> ask_all(const std::vector<Question>& questions, int connections);

 private:
  Flags with_routers(Flags flags) const;
  Flags with_door(const std::string& drafter, Flags flags) const;
  void start(const std::string& service, const std::filesystem::path& program, Flags flags);  // one with a model
  void start_process(const std::string& name, const std::filesystem::path& program, Flags flags);
  std::filesystem::path file(const std::string& service, const char* suffix) const;
  void check_log(const std::string& service) const;  // a sanitizer's finding fails the test
  std::string logs() const;

  std::filesystem::path folder_, model_;
  bool keyed_ = false;
  std::string model_name_;
  std::map<std::string, Process> processes_;
  std::map<std::string, Ports> ports_;
  std::map<std::string, std::string> binds_;  // of each router, and of each drafter with a proxy
  std::map<std::string, std::string> doors_;  // where others connect instead, if anywhere
};

// Flags of a verifier to which a draft node costs nothing. On a busy machine the step times
// measured at start may say that no node pays, and a test that needs drafts must not depend on
// that.
Cluster::Flags free_draft_nodes(Cluster::Flags more = {});
// The same, and the verifier waits for every tree that it has asked for.
Cluster::Flags verify_every_draft(Cluster::Flags more = {});

}  // namespace slipstream::e2e
