// One scrape of a Prometheus page, and the sums that tests ask of it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/metrics/scrape.h"

namespace slipstream::e2e {

class Samples {
 public:
  explicit Samples(std::string_view page);
  // The sum over all samples of this name that have every one of `labels` (each as
  // `fate="accepted"`); 0 if there is none.
  double sum(std::string_view name, const std::vector<std::string>& labels = {}) const;
  // As Scrape::quantile().
  double quantile(std::string_view name, double q) const { return page_.quantile(name, q); }
  // The value of a label on the first sample of this name; "" if there is none.
  std::string label(std::string_view name, const std::string& label) const;

 private:
  Scrape page_;
};

}  // namespace slipstream::e2e
