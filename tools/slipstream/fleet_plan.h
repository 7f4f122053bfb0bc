// Plans what `slipstream serve` starts: the options of a fleet, how it divides the CPUs, and the
// command line of each service. Nothing here starts a process.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "common/base/endpoint.h"
#include "common/base/names.h"
#include "common/base/result.h"
#include "common/config/settings.h"
#include "tools/slipstream/process.h"
#include "tools/slipstream/run_folder.h"

namespace slipstream::command {

struct FleetOptions {
  std::filesystem::path model = kDefaultModel;
  std::string drafter = "ngram";          // one of kMethodNames, or kNoMethod
  std::string resident = "ngram";         // drafts inside the verifier, too; or kNoMethod
  std::string head;                       // folder of the model's draft head; kNoMethod; empty: the one beside the model
  std::vector<std::string> corpora;       // in which look-up finds drafts, of verifier and drafter
  std::string look_up_file;               // of the resident method, or else of the drafter; empty: none
  std::filesystem::path draft_model;      // folder of a draft method's model; empty: the target drafts for itself
  std::string weights = "file";           // of verifier and draft model, as in their --weights
  bool fine_rows = false;                 // of both, as in their --fine-rows
  std::string path = "auto";              // of both, as in their --path
  std::string device = "cpu";             // of both, as in their --device
  std::optional<uint32_t> deadline_us;    // longest wait of a step for a tree; none: see deadline_of()
  std::optional<uint32_t> wait_percent;   // waits in percent of compute time, at most; none: the verifier's default
  std::string host = "127.0.0.1";         // address of the HTTP API; see http_endpoint()
  uint32_t port = 8080;                   // of the HTTP API; 0: any free one
  std::string api_key_file;               // of the keys that clients may use; empty: no key is asked for
  std::string tls_cert, tls_key;          // files of the certificate for HTTPS and its key; empty: HTTP in clear
  std::vector<std::string> allowed_host;  // names by which clients may call the API, beside localhost; "*": any
  bool ollama = false;                    // Ollama's API is there, too
  bool strict = false;                    // requests with fields that are not used are refused
  bool open = false;                      // other machines may reach HTTP without a key
  uint32_t metrics_port = 0;              // of the verifier's page; the drafter's is the next one; 0: any free ones
  std::string model_name;                 // as clients name the model; empty: the router's default
  std::optional<uint32_t> context_max;    // of the verifier, and the next one; none: its default
  std::optional<uint32_t> cache_tokens;
  std::string cache_memory;           // that the verifier's cache may take, and a draft model's; empty: cache_tokens says it
  std::optional<uint32_t> nodes_max;  // of the router; none: its default
  std::string log_level = "info";     // of all three
  std::string log_format = "text";    // of all three
  std::string otlp;                   // the collector of their traces; empty: none
  uint32_t cpus = 0;                  // CPUs to divide; 0: this process's quota
  std::filesystem::path run_folder = ".run";  // contains logs/ and ports/
  std::optional<uint32_t> queue_wait_ms;      // as the router's; unset: its default
  uint32_t drain_ms = 25'000;                 // when told to stop, answers under way may go on for so long
  std::string rules;                          // rules that clients may choose, as in the router's --rules; "": its default
  std::filesystem::path keys;                 // router.key, verifier.key, drafter.key, peers/; empty: no encryption
  std::string name = "serve";                 // distinguishes this fleet's logs from another's
  std::vector<std::string> router_more, verifier_more, drafter_more;  // further flags of each: "--lease-ms=5000"
};

// Where the HTTP API listens. options.host is an IP address, IPv6 with or without brackets, or
// localhost. Error: it cannot be read.
Result<Endpoint> http_endpoint(const FleetOptions& options);
// Where a worker's page with its metrics listens: on loopback at any free port, or at the host of
// the HTTP API if options.metrics_port fixes its port. REQUIRES: http_endpoint() gives no error.
Endpoint metrics_endpoint(const FleetOptions& options, std::string_view service);
// The address at which a process of this machine reaches a server that listens at `host`.
std::string near_host(const std::string& host);

// How the CPUs of one machine are divided. Never use more compute threads than cores: two processes
// with two spinning threads each ran nine times slower on two cores (docs/design/ARCHITECTURE.md).
struct CpuSplit {
  int cpus = 1;
  int verifier_threads = 1;
  int drafter_threads = 0;  // 0: the drafter's compute is negligible

  // Look-up drafting and the router take microseconds between the verifier's steps. Up to
  // kSharedCpusMax CPUs the verifier therefore computes on every core; above, one core stays free
  // for the others.
  static constexpr int kSharedCpusMax = 2;
  static CpuSplit of(int cpus) { return {cpus, std::max(1, cpus > kSharedCpusMax ? cpus - 1 : cpus)}; }
  // A draft model computes as much as the target does, and while the target waits: each gets half
  // of the cores.
  static CpuSplit with_draft_model(int cpus) { return {cpus, std::max(1, cpus - cpus / 2), std::max(1, cpus / 2)}; }

  std::string words() const;  // a sentence for the user
};

// Returns `model` if it exists, or else the same path in the build tree that made this program, or
// below /var/lib/slipstream, where an installation has its models. Error: what is missing, and the
// next step.
Result<std::filesystem::path> find_model(const std::filesystem::path& model);

std::filesystem::path this_program();

// Returns options.deadline_us if it is set, or else the drafter's default: the tree of a draft
// model takes several forward passes, a look-up takes microseconds.
uint32_t deadline_of(const FleetOptions& options);
// The router's command-line flags that concern clients and speculation.
std::vector<std::string> router_flags(const FleetOptions& options);
// The flags that say what computes a service's model and what memory its cache may take, of
// verifier and of drafters with a model.
std::vector<std::string> compute_flags(const FleetOptions& options);

// The flags of look-up for a process of `service`; none if it does not look up. The file of
// remembered answers is the verifier's, if both do: two processes must not write one file, and a
// drafter adds nothing to a resident method.
std::vector<std::string> look_up_flags(const FleetOptions& options, std::string_view service);
// Whether verifier or drafter looks up.
inline bool looks_up(const FleetOptions& options) { return options.resident == kNgram || options.drafter == kNgram; }
// A sentence for each flag about drafts that nothing which runs would use; none: all are used.
std::vector<std::string> unused_drafting_flags(const FleetOptions& options);
// The head of --drafter draft-head. The error says what to do.
Result<void> check_head_is_there(const FleetOptions& options);
// Says which drafter runs, how long a step waits for it, and that its probabilities are trusted.
std::string drafting_words(const FleetOptions& options);

// The flags of a section of the file of settings, "--lease-ms=5000", have none that its service is
// given anyway. given: the service's other arguments.
Result<void> check_section(std::string_view service, std::span<const std::string> given, std::span<const std::string> section);

class FleetPlan {
 public:
  // Finds the programs of the services next to this one (an installation's bin/) or in the build
  // tree that made it. Error: names the missing program and says how to build it, or a flag that
  // has no use.
  static Result<FleetPlan> make(FleetOptions options);
  // The same without looking for programs: only the arguments of its commands mean something.
  // REQUIRES: http_endpoint() gives no error.
  static FleetPlan on_paper(FleetOptions options);

  const CpuSplit& cpus() const { return cpus_; }
  const RunFolder& run_folder() const { return run_folder_; }
  bool https() const { return !options_.tls_cert.empty(); }
  std::chrono::milliseconds drain() const { return std::chrono::milliseconds(options_.drain_ms); }
  bool drafts() const { return options_.drafter != kNoMethod; }
  bool drafter_has_model() const { return network_of(options_.drafter) != DraftNetwork::none; }
  std::string host_of(std::string_view service) const;  // at which this process reaches the service's HTTP server

  // ports: those that the previous router process bound and this one binds again; empty: any free
  // ports.
  Command router(const Ports& ports) const;
  // router: the ports at which the worker finds the router.
  Command verifier(const Ports& router) const;
  Command drafter(const Ports& router) const;

 private:
  FleetPlan(FleetOptions options, CpuSplit cpus);
  Command worker(std::string_view service, const std::filesystem::path& program, const Ports& router) const;
  void add_keys(std::string_view service, Command& command) const;

  FleetOptions options_;
  CpuSplit cpus_;
  RunFolder run_folder_;
  std::filesystem::path router_program_, verifier_program_, drafter_program_;
};

}  // namespace slipstream::command
