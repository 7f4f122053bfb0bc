#include "tests/e2e/support/samples.h"

#include <algorithm>

#include "common/base/check.h"

namespace slipstream::e2e {
namespace {

// An empty page, of a process that has just been killed, has no samples.
Scrape parsed(std::string_view page) {
  auto scrape = Scrape::parse(page);
  CHECK(scrape.has_value(), "a metrics page is none: {}", scrape.error().message);
  return *std::move(scrape);
}

// label: name="value".
bool has(const Sample& sample, std::string_view label) {
  const size_t equals = label.find("=\"");
  const std::string_view name = label.substr(0, equals);
  return sample.labels.contains(name) && label == std::string(name) + "=\"" + std::string(sample.label(name)) + "\"";
}

}  // namespace

Samples::Samples(std::string_view page) : page_(parsed(page)) {}

double Samples::sum(std::string_view name, const std::vector<std::string>& labels) const {
  double total = 0;
  for (const Sample& sample : page_.samples()) {
    const bool wanted = std::ranges::all_of(labels, [&](const std::string& label) { return has(sample, label); });
    if (sample.name == name && wanted) total += sample.value;
  }
  return total;
}

std::string Samples::label(std::string_view name, const std::string& label) const {
  const auto found = std::ranges::find(page_.samples(), name, &Sample::name);
  return found == page_.samples().end() ? "" : std::string(found->label(label));
}

}  // namespace slipstream::e2e
