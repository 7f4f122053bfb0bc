// The settings that several services have: members, defaults, flags and checks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/device_name.h"
#include "common/config/settings.h"

namespace slipstream {

class CommandLine;
class Problems;

// The settings of every service. The services declare the flag --model themselves, because each one
// reads other parts of the model and its help says which.
struct ServiceOptions {
  std::string model = kDefaultModel;  // a Hugging Face folder or a GGUF file
  std::string key;                    // file of this process's key pair; empty: no keys, so loopback only
  std::string peers;                  // folder of the public keys that are enrolled
  std::string log_level = "info";
  std::string log_format = "text";  // one of kLogFormatNames
  bool open = false;                // the HTTP page or API may be reachable from other machines without a key
  std::string otlp;                 // the collector of traces, http://host:port; empty: no traces
  std::string port_file;            // where to write the bound addresses (port_file.h); empty: nowhere

  bool keyed() const { return !key.empty(); }
  void declare(CommandLine& line);  // --key, --peers, --open, --log-level, --log-format, --otlp, --port-file
  void check(Problems& problems) const;
};

inline constexpr uint32_t kCacheTokensDefault = 16384;

// The settings of verifiers and drafters.
struct WorkerOptions : ServiceOptions {
  std::vector<std::string> router{"tcp://127.0.0.1:7300"};  // endpoints and names (dns://) of all routers to work for
  uint32_t threads = 0;                                     // of the model; 0: the CPU quota (cpu_quota.h)
  std::string device = "cpu";                               // base/device_name.h
  bool fast_rows = false;                                   // of torch's devices: a row's bits may depend on the others
  bool fine_rows = false;                                   // of a CPU: rounded more finely for every matrix (ops.h)
  std::string path = "auto";                                // one of path_choices()
  std::string weights = "file";                             // one of weights_choices(), of the device
  std::optional<uint32_t> cache_tokens;                     // rows of the KV cache, which all sequences share
  std::string cache_memory;                                 // instead, what it may take: "2GiB" (byte_size.h); empty: unset
  std::string metrics = "127.0.0.1:0";                      // address of the HTTP page: /metrics, /health, /ready
  uint32_t job_stuck_ms = 60'000;                           // a job that runs longer makes /health fail
  bool check_load = false;                                  // load, say what it takes, and end
  std::string advertise_metrics;                            // its host:port as routers are told it; empty: the bound one

  uint32_t threads_or_quota() const;  // `threads`, or the CPU quota for 0
  DeviceName device_name() const;     // of `device`, which is checked
  int32_t cache_rows() const;         // cache_tokens or the default; of no meaning with cache_memory
  uint64_t cache_bytes() const;       // cache_memory, which is checked; 0: unset
  // scope: begins the help of the flags that concern a model, where only some methods have one:
  // "small-lm: ".
  void declare(CommandLine& line, std::string_view scope = "");
  void check(Problems& problems) const;
};

}  // namespace slipstream
