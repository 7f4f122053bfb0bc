#include "common/config/service_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/config/byte_size.h"
#include "common/config/command_line.h"
#include "common/config/cpu_quota.h"
#include "common/config/settings_checks.h"

namespace slipstream {

void ServiceOptions::declare(CommandLine& line) {
  line.option("--key", key, "File of this process's key pair, of `slipstream keys new`; none: loopback only");
  line.option("--peers", peers, "Folder of the public keys of those it may speak with");
  line.flag("--open", open, "HTTP may be reachable from other machines: anyone who can reach the port may use it");
  line.option("--log-level", log_level, "debug, info, warning, error or off");
  line.log_format(log_format, "Lines of the log");
  line.option("--otlp", otlp, "Send traces to this collector (OTLP over HTTP), as http://127.0.0.1:4318; none: no traces");
  line.option("--port-file", port_file, "Write the bound addresses there as JSON once ready");
}

void ServiceOptions::check(Problems& problems) const {
  problems.model("--model", model);
  problems.keys(key, peers);
  problems.log_level(log_level);
  if (!otlp.empty()) problems.http_url("--otlp", otlp);
}

DeviceName WorkerOptions::device_name() const { return slipstream::device_name(device).value_or(DeviceName{}); }

uint32_t WorkerOptions::threads_or_quota() const { return threads > 0 ? threads : static_cast<uint32_t>(cpu_quota()); }

int32_t WorkerOptions::cache_rows() const { return static_cast<int32_t>(cache_tokens.value_or(kCacheTokensDefault)); }

uint64_t WorkerOptions::cache_bytes() const { return cache_memory.empty() ? 0 : byte_size(cache_memory).value_or(0); }

void WorkerOptions::declare(CommandLine& line, std::string_view scope) {
  line.option("--router", router,
              "A router's worker endpoint; repeat it for several. dns://NAME:PORT: a router at each address that the name has, "
              "looked up again and again");
  line.option("--threads", threads, kThreadsRange,
              fmt::format("{}threads of the model; 0: the CPU quota, here {}", scope, cpu_quota()));
  line.option("--device", device,
              fmt::format("{}what computes: {}; torch's are in libslipstream_torch.so (`make torch`)", scope, kDeviceChoices));
  line.flag(
      "--fast-rows", fast_rows,
      fmt::format("{}on a device of torch: quicker, but a row's bits depend on the rows beside it, so drafts may change a "
                  "word where two are nearly equal",
                  scope));
  line.flag(
      "--fine-rows", fine_rows,
      fmt::format("{}on a CPU, of small weights: the rows (activations) that they meet are rounded so finely that nothing "
                  "is lost by it; a step of one row takes a tenth longer, a prompt 1.7 times as long",
                  scope));
  line.option("--path", path, fmt::format("{}instruction path: {}", scope, fmt::join(path_choices(), ", ")));
  line.option(
      "--weights", weights,
      fmt::format("{}format of its matrices: {}; file: as the file has them. On torch: {}; file: f32 on a CPU, bf16 on a GPU. "
                  "On a GPU also {} (what the file has in few bits stays so) or a format of few bits",
                  scope, fmt::join(weights_choices(DeviceKind::cpu), ", "), fmt::join(kTorchWeights, ", "), kSmallWeights));
  line.option("--cache-tokens", cache_tokens, kCacheTokensRange,
              fmt::format("{}rows of the KV cache, shared by all sequences; none: {}, or what --cache-memory holds", scope,
                          kCacheTokensDefault));
  line.option("--cache-memory", cache_memory,
              fmt::format("{}instead, the memory that this cache may take: 2GiB, 512MiB", scope));
  line.instead("--check-load", check_load,
               "Load what it computes with, say what that takes, and exit: 0; 1 if it may fit later; 2 with what to mend");
  line.option("--metrics", metrics, "Where /metrics, /health and /ready are, host:port; port 0: any free one");
  line.option("--job-stuck-ms", job_stuck_ms, kStuckMsRange,
              "A compute job that runs longer makes /health answer 500, so that what supervises this process starts it again");
  line.option("--advertise-metrics", advertise_metrics,
              "The host:port of /metrics that routers are told, where that is not --metrics; default: the bound one");
  ServiceOptions::declare(line);
}

void WorkerOptions::check(Problems& problems) const {
  ServiceOptions::check(problems);
  problems.routers("--router", router, keyed());
  problems.path(path);
  problems.device({.device = device, .path = path, .weights = weights, .fast_rows = fast_rows, .fine_rows = fine_rows});
  problems.cache(cache_tokens.has_value(), cache_memory);
  if (!advertise_metrics.empty()) problems.http_connect("--advertise-metrics", advertise_metrics);
  problems.http_bind("--metrics", metrics, open, "--open, so that anyone who can reach the port may read its pages");
}

}  // namespace slipstream
