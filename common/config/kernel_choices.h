// What --path and --weights may say: the paths and weight formats of kernels/cpu, and one word each that leaves it open.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/cpu/path.h"

namespace slipstream {

std::vector<std::string> path_choices();     // "auto", the fastest that this CPU has; then all paths, slowest first
std::vector<std::string> weights_choices();  // "file", as the model's file has them; then all formats

// A sentence where `path` names one that `cpu` cannot run: which instruction set it lacks, and what it can run.
std::optional<std::string> path_problem(std::string_view flag, std::string_view path, const CpuFeatures& cpu);

}  // namespace slipstream
