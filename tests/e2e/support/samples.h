// One scrape of a Prometheus page, and the sums that tests ask of it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slipstream::e2e {

class Samples {
 public:
  explicit Samples(std::string_view page);
  // The sum over all samples of this name whose labels hold every one of `labels` (each as
  // `fate="accepted"`); 0 if there is none.
  double sum(std::string_view name, const std::vector<std::string>& labels = {}) const;
  // The q-quantile of a histogram, linear within its bucket; the largest finite bound if it lies
  // above.
  double quantile(std::string_view name, double q) const;
  // The value of a label on the first sample of this name; "" if there is none.
  std::string label(std::string_view name, const std::string& label) const;

 private:
  struct Sample {
    std::string name, labels;
    double value = 0;
  };
  std::vector<Sample> samples_;
};

}  // namespace slipstream::e2e
