#include "common/config/kernel_choices.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/cpu/panels.h"

namespace slipstream {

std::vector<std::string> path_choices() {
  std::vector<std::string> choices{"auto"};
  for (const CpuPath path : all_cpu_paths()) choices.emplace_back(name(path));
  return choices;
}

std::vector<std::string> weights_choices() {
  std::vector<std::string> choices{"file"};
  for (const WeightFormat format : kAllWeightFormats) choices.emplace_back(name(format));
  return choices;
}

std::optional<std::string> path_problem(std::string_view flag, std::string_view wanted, const CpuFeatures& cpu) {
  const auto path = cpu_path(wanted);
  const char* missing = path ? missing_for(*path, cpu) : nullptr;
  if (missing == nullptr) return std::nullopt;
  std::vector<std::string_view> possible{"auto"};
  for (const CpuPath each : all_cpu_paths()) {
    if (missing_for(each, cpu) == nullptr) possible.push_back(name(each));
  }
  return fmt::format("{} {} needs {}, which this CPU lacks; choose one of: {}", flag, wanted, missing,
                     fmt::join(possible, ", "));
}

}  // namespace slipstream
