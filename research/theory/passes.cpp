#include "research/theory/passes.h"

#include <algorithm>
#include <numeric>

namespace slipstream::theory {

Passes& Passes::operator+=(const Passes& other) {
  tokens += other.tokens;
  drafted += other.drafted;
  verified += other.verified;
  discarded += other.discarded;
  return *this;
}

double total_time(const Passes& passes, const PassTimes& times) {
  return times.draft * passes.drafted + times.target * passes.verified;
}

double total_time_by_losses(const Passes& passes, const PassTimes& times) {
  return times.draft * passes.tokens + times.draft * passes.discarded + (times.target - times.draft) * passes.verified;
}

double latency(const Passes& passes, const PassTimes& times) {
  const double discard_rate = passes.discarded / passes.tokens, verification_rate = passes.verified / passes.tokens;
  return times.draft + times.draft * discard_rate + (times.target - times.draft) * verification_rate;
}

Passes expected_passes(const ChainPair& pair, int length) {
  const int horizon = pair.horizon();
  const auto tokens = static_cast<size_t>(pair.vocabulary());
  // [horizon + 1, vocabulary] expected number of rounds that begin after n tokens, the last of
  // which is x.
  std::vector<std::vector<double>> begun(static_cast<size_t>(horizon) + 1, std::vector<double>(tokens, 0.0));
  begun[0].assign(tokens, 1.0 / static_cast<double>(tokens));
  Passes mean{.tokens = static_cast<double>(horizon)};
  for (int n = 0; n < horizon; ++n) {
    // Rounds of which all candidates so far are accepted, by the last of them.
    std::vector<double> alive = begun[static_cast<size_t>(n)];
    const double rounds = std::accumulate(alive.begin(), alive.end(), 0.0);
    const int drafts = std::min(length, horizon - n - 1);
    mean.verified += rounds;
    mean.drafted += rounds * drafts;
    for (int i = 1; i <= drafts + 1; ++i) {
      std::vector<double>& ended = begun[static_cast<size_t>(n + i)];
      std::vector<double> next(tokens, 0.0);
      for (TokenId before = 0; before < pair.vocabulary(); ++before) {
        const double mass = alive[static_cast<size_t>(before)];
        const Shares p = pair.p(n + i, before), q = pair.q(n + i, before);
        for (size_t x = 0; x < tokens; ++x) {
          const double shared = i <= drafts ? std::min(p[x], q[x]) : 0.0;  // a round's last token is the target's own
          next[x] += mass * shared;
          ended[x] += mass * (p[x] - shared);
          mean.discarded += mass * (p[x] - shared) * (drafts - i + 1);
        }
      }
      alive = std::move(next);
    }
  }
  return mean;
}

std::vector<int> disagreements(const ChainPair& pair, TokenId prompt) {
  const auto likeliest = [](Shares shares) { return static_cast<TokenId>(std::ranges::max_element(shares) - shares.begin()); };
  std::vector<int> apart;
  for (int n = 1, before = prompt; n <= pair.horizon(); ++n) {
    const TokenId likeliest_p = likeliest(pair.p(n, before));
    if (likeliest(pair.q(n, before)) != likeliest_p) apart.push_back(n);
    before = likeliest_p;
  }
  return apart;
}

Passes oracle_passes(const std::vector<int>& disagreements, int horizon) {
  const bool ends_with_one = !disagreements.empty() && disagreements.back() == horizon;
  const double verified = static_cast<double>(disagreements.size()) + (ends_with_one ? 0 : 1);
  return {.tokens = static_cast<double>(horizon), .drafted = horizon - verified, .verified = verified};
}

}  // namespace slipstream::theory
