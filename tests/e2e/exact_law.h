// The law of three consecutive tokens after a prompt, computed from the model itself: p(a), p(b | a), p(c | a, b) for every a,
// b, c of a small vocabulary, adjusted, at any temperature and top-p, by the test's own arithmetic.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/sampling/adjustments.h"

namespace slipstream::e2e {

struct LawSetting {
  double temperature = 1, top_p = 1;
  Adjustments how = {};
};

class ExactLaw {
 public:
  static Result<ExactLaw> of(const std::filesystem::path& model, std::span<const TokenId> prompt,
                             const LawSetting& setting = {});

  int vocabulary() const { return vocabulary_; }
  std::span<const double> first() const { return row(first_, 0); }
  std::span<const double> second(TokenId a) const { return row(second_, a); }
  std::span<const double> third(TokenId a, TokenId b) const { return row(third_, a * vocabulary_ + b); }

  // Moves `mass` of every conditional law of that position (0, 1, 2) from its likeliest token to its second: an error of total
  // variation `mass`.
  void bias(int position, double mass);

 private:
  explicit ExactLaw(int vocabulary) : vocabulary_(vocabulary) {}
  std::span<const double> row(const std::vector<double>& rows, int at) const {
    return std::span(rows).subspan(static_cast<size_t>(at) * static_cast<size_t>(vocabulary_),
                                   static_cast<size_t>(vocabulary_));
  }
  int vocabulary_;
  std::vector<double> first_, second_, third_;  // [vocabulary], [vocabulary^2], [vocabulary^3]
};

}  // namespace slipstream::e2e
