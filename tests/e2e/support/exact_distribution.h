// The distribution of the first few tokens after a prompt, computed from the model in the test's
// own arithmetic: of each token after any tokens before it. It takes a small vocabulary or few
// allowed tokens, logits parameters, any temperature and any top-p.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/sampling/logits_params.h"

namespace slipstream::e2e {

struct DistributionSetting {
  double temperature = 1, top_p = 1;
  LogitsParams how = {};
};

class ExactDistribution {
 public:
  // The distribution of `length` tokens. The candidates are those that setting.how allows.
  static Result<ExactDistribution> of(const std::filesystem::path& model, std::span<const TokenId> prompt, size_t length,
                                      const DistributionSetting& setting = {});

  size_t length() const { return rows_.size(); }
  std::span<const TokenId> candidates() const { return candidates_; }  // ascending
  size_t index(TokenId candidate) const;                               // its place among them; throws if it is no candidate
  // The distribution of the token behind `before` (fewer than length()): [candidates].
  std::span<const double> after(std::span<const TokenId> before) const;

  // Moves `mass` of every conditional distribution of that position (0, 1, ...) from its likeliest
  // token to its second: an error of total variation `mass`.
  void bias(size_t position, double mass);
  // Moves `mass` between two of the three likeliest tokens. Which two, and in which direction, is
  // random for each prefix; the less likely one loses only where it has that much. Cells of ranks
  // do not add up this error.
  void scatter(size_t position, double mass);

 private:
  // Calls change(distribution, its indices, likeliest first) for each prefix of `position` tokens.
  template <class Change>
  void change(size_t position, const Change& change);

  std::vector<TokenId> candidates_;
  std::vector<std::vector<double>> rows_;  // [position]: [candidates^position] distributions, [candidates] each
};

}  // namespace slipstream::e2e
