#include "tests/e2e/samples.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace slipstream::e2e {

Samples::Samples(std::string_view page) {
  std::istringstream lines{std::string(page)};
  for (std::string line; std::getline(lines, line);) {
    const size_t space = line.rfind(' ');
    if (line.empty() || line[0] == '#' || space == std::string::npos) continue;
    const size_t brace = std::min(line.find('{'), space);
    samples_.push_back({line.substr(0, brace), line.substr(brace, space - brace), std::strtod(line.c_str() + space, nullptr)});
  }
}

double Samples::sum(std::string_view name, const std::vector<std::string>& labels) const {
  double total = 0;
  for (const Sample& sample : samples_) {
    const bool wanted =
        std::ranges::all_of(labels, [&](const std::string& label) { return sample.labels.find(label) != std::string::npos; });
    if (sample.name == name && wanted) total += sample.value;
  }
  return total;
}

bool Samples::has(std::string_view name) const {
  return std::ranges::any_of(samples_, [&](const Sample& sample) { return sample.name == name; });
}

}  // namespace slipstream::e2e
