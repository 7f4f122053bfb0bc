#include "tests/e2e/support/samples.h"

#include <algorithm>
#include <cmath>
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

double Samples::quantile(std::string_view name, double q) const {
  std::vector<std::pair<double, double>> buckets;  // upper bound, count up to it
  for (const Sample& sample : samples_) {
    const size_t le = sample.labels.find("le=\"");
    if (sample.name != std::string(name) + "_bucket" || le == std::string::npos) continue;
    buckets.emplace_back(std::strtod(sample.labels.c_str() + le + 4, nullptr), sample.value);  // "+Inf" is read as infinity
  }
  std::ranges::sort(buckets);
  if (buckets.empty()) return 0;
  const double wanted = q * buckets.back().second;
  double below = 0, bound = 0;
  for (const auto& [upper, count] : buckets) {
    if (count >= wanted && count > below && upper < HUGE_VAL)
      return bound + (upper - bound) * (wanted - below) / (count - below);
    if (upper < HUGE_VAL) bound = upper;
    below = count;
  }
  return bound;
}

std::string Samples::label(std::string_view name, const std::string& label) const {
  const auto found = std::ranges::find(samples_, name, &Sample::name);
  if (found == samples_.end()) return "";
  const size_t begin = found->labels.find(label + "=\"");
  if (begin == std::string::npos) return "";
  const size_t value = begin + label.size() + 2;
  return found->labels.substr(value, found->labels.find('"', value) - value);
}

}  // namespace slipstream::e2e
