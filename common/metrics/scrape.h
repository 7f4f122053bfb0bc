// Parses a page of the Prometheus text format into samples: the inverse of exposition.h. The router
// reads the pages of its workers with it, and tests read every page with it.
//
//   TRY(const Scrape page, Scrape::parse(text));
//   const double nodes = page.sum("slipstream_verifier_draft_nodes_total", {{"fate", "accepted"}});
//
// A page comes from another process, so nothing about it is trusted. Its size, its lines, its
// samples and its labels are bounded. NaN and infinities are values: a reader that computes with
// them must check. A sample that comes twice is an error, and so is a line that is no sample, no
// comment and not empty. A timestamp behind a value is read and ignored. Pure.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/result.h"

namespace slipstream {

inline constexpr size_t kScrapeBytesMax = size_t{4} << 20;  // of a page
inline constexpr size_t kScrapeLineBytesMax = 8192;
inline constexpr size_t kScrapeSamplesMax = 20'000;  // of a page
inline constexpr size_t kScrapeLabelsMax = 32;       // of a sample

struct Sample {
  std::string name;
  std::map<std::string, std::string, std::less<>> labels;
  double value = 0;
  std::string_view label(std::string_view of) const;  // empty: it has no such label
  bool operator==(const Sample&) const = default;
};

class Scrape {
 public:
  using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

  // Errors name the line and what is wrong with it, or the limit.
  static Result<Scrape> parse(std::string_view text);
  // Samples that came otherwise, as from a query of PromQL. Error: one comes twice, or a limit.
  static Result<Scrape> of(std::vector<Sample> samples);

  std::span<const Sample> samples() const { return samples_; }  // in the order of the page
  // The sum over all samples of this name that have these labels; 0 if there is none.
  double sum(std::string_view name, Labels labels = {}) const;
  // The q-quantile of a histogram, linear within its bucket; the largest finite bound if it lies
  // above. 0 <= q <= 1.
  double quantile(std::string_view name, double q) const;

 private:
  explicit Scrape(std::vector<Sample> samples) : samples_(std::move(samples)) {}
  std::vector<Sample> samples_;
};

}  // namespace slipstream
