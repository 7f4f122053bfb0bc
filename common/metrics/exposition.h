// Builds the Prometheus text of one scrape from plain counters, with prometheus-cpp's serializer.
// Each scrape makes a new page from the counters of that moment, so there is no registry and no
// state. The names are in names.h. Not thread-safe.
//
//   Exposition page;
//   page.counter(metric::kNodeFrames, sent, {{"direction", "sent"}});
//   std::string body = page.text();
#pragma once

#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "common/base/histogram.h"
#include "common/metrics/names.h"

namespace slipstream {

class Exposition {
 public:
  using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;
  Exposition();
  ~Exposition();
  void counter(const MetricName& metric, double value, Labels labels = {});
  void gauge(const MetricName& metric, double value, Labels labels = {});
  template <size_t N>
  void histogram(const MetricName& metric, const Histogram<N>& histogram, Labels labels = {}) {
    add_histogram(metric, histogram.bounds(), histogram.counts(), histogram.sum(), labels);
  }
  std::string text() const;  // metrics in the order of their first mention

 private:
  // bounds: [n], ascending. counts: [n + 1], the last one for values above all bounds.
  void add_histogram(const MetricName& metric, std::span<const double> bounds, std::span<const uint64_t> counts, double sum,
                     Labels labels);
  struct Families;
  std::unique_ptr<Families> families_;
};

}  // namespace slipstream
