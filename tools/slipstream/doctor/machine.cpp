#include "tools/slipstream/doctor/machine.h"

#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>

namespace slipstream::command::doctor {
namespace {

constexpr double kGigabyte = 1e9;

std::string gigabytes(double bytes) { return fmt::format("{:.1f} GB", bytes / kGigabyte); }

}  // namespace

Finding check_cpu(const CpuFeatures& cpu) {
  std::string missing;
  for (const CpuPath path : all_cpu_paths()) {
    const char* lacks = missing_for(path, cpu);
    if (lacks != nullptr && missing.empty()) missing = fmt::format("; {} would need {}", name(path), lacks);
  }
  const CpuPath best = best_cpu_path(cpu);
  const char* many_rows = best == CpuPath::amx ? ", the fastest for a stream alone; --path amx_bf16 is faster for many" : "";
  const std::string found = fmt::format("path {}{}", name(best), missing.empty() ? many_rows : missing);
  if (best != CpuPath::portable) return ok("cpu", found);
  return warn("cpu", found, "plain C++ is several times slower; take a machine with AVX2, or let the hypervisor pass it on");
}

Finding check_cores(int usable, uint32_t asked, const CpuSplit& split) {
  const std::string found = fmt::format("{} to use; {}", usable, split.words());
  if (asked > static_cast<uint32_t>(usable)) {
    return warn("cores", fmt::format("--threads {} is more than the {} that this process may use", asked, usable),
                fmt::format("--threads {}, or leave it out: threads that share a core are many times slower", usable));
  }
  if (split.verifier_threads + split.drafter_threads > split.cpus) {
    return warn("cores", found, "--drafter ngram needs no core of its own");
  }
  return ok("cores", found);
}

Finding check_memory(double need, std::string_view fewer_bits, const MachineMemory& memory) {
  const std::string needs = fmt::format("the model and its cache need about {}", gigabytes(need));
  const std::string less = fmt::format("a smaller --model{}, or a smaller cache (--cache-memory)",
                                       fewer_bits.empty() ? "" : fmt::format(", --weights {}", fewer_bits));
  if (const double most = std::min(memory.limit, memory.total); most > 0 && need > most) {
    return failed(
        "memory",
        fmt::format("{}, and {} allows {}", needs, memory.limit < memory.total ? "the cgroup" : "the machine", gigabytes(most)),
        less);
  }
  if (need > memory.available) {
    return warn("memory", fmt::format("{}, and {} are free now", needs, gigabytes(memory.available)),
                "end other programs, or " + less);
  }
  const std::string limit = std::isfinite(memory.limit) && memory.limit < memory.total
                                ? fmt::format(", the cgroup's limit is {}", gigabytes(memory.limit))
                                : "";
  return ok("memory", fmt::format("{}, and {} are free{}", needs, gigabytes(memory.available), limit));
}

Finding check_open_files(uint64_t soft, uint64_t hard) {
  const std::string found = fmt::format("{} at once, by the shell's limit", soft);
  if (soft >= kOpenFilesWanted) return ok("open files", found);
  const std::string advice = hard >= kOpenFilesWanted
                                 ? fmt::format("ulimit -n {}", kOpenFilesWanted)
                                 : fmt::format("raise the limit (LimitNOFILE={} in a systemd unit)", kOpenFilesWanted);
  return warn("open files", found + ": enough for a few hundred clients", advice);
}

}  // namespace slipstream::command::doctor
