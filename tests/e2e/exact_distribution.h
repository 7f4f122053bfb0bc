// The distribution of the first few tokens after a prompt, computed from the model itself: of each
// token after any tokens before it, for a small vocabulary or for few allowed tokens, adjusted, at
// any temperature and top-p, by the test's own arithmetic.
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
  // Of so many tokens. The candidates are those that setting.how allows.
  static Result<ExactDistribution> of(const std::filesystem::path& model, std::span<const TokenId> prompt, size_t length,
                                      const DistributionSetting& setting = {});

  size_t length() const { return rows_.size(); }
  std::span<const TokenId> candidates() const { return candidates_; }  // ascending
  size_t index(TokenId candidate) const;                               // among them; throws where it is none
  // Of the token behind these (fewer than length()): [candidates].
  std::span<const double> after(std::span<const TokenId> before) const;

  // Moves `mass` of every conditional distribution of that position (0, 1, ...) from its likeliest
  // token to its second: an error of total variation `mass`.
  void bias(size_t position, double mass);
  // Moves it between two of the three likeliest tokens that can be; which of them and which way is
  // sampled for each prefix (from the one that has so much, where the other has less): an error
  // that cells of ranks do not add up.
  void scatter(size_t position, double mass);

 private:
  // change(distribution, its indices, likeliest first), behind each prefix of so many tokens.
  template <class Change>
  void change(size_t position, const Change& change);

  std::vector<TokenId> candidates_;
  std::vector<std::vector<double>> rows_;  // [position]: [candidates^position] distributions, [candidates] each
};

}  // namespace slipstream::e2e
