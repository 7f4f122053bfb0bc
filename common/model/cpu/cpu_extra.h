// Logits of a few tokens a row, those that a draft head scores beside its own (Ops::linear_extra).
// A row of the output layer lies scattered over its panel, of which sixteen times as many bytes
// would be read. So rows that were asked for are kept unpacked: the words of a text come again.
// Private to common/model/cpu.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "common/model/cpu/cpu_types.h"
#include "common/model/cpu/thread_pool.h"

namespace slipstream {

inline constexpr int64_t kExtraRowsBytes = 8 << 20;  // of rows that are kept

// A row's extra tokens, without what stands behind the last. None if the step has none.
inline std::span<const ExtraToken> extra_of(const Step& step, int32_t row) {
  if (step.extra.empty()) return {};
  const auto all = step.extra.subspan(static_cast<size_t>(row) * kExtraTokens, kExtraTokens);
  return all.first(static_cast<size_t>(std::ranges::find(all, -1, &ExtraToken::token) - all.begin()));
}

// A row of a head's logits and of its extra tokens', as one: a buffer that is reused.
class JoinedRow {
 public:
  // logits: [tokens]; extra_logits: [extra]. Valid until the next call.
  std::pair<std::span<const float>, std::span<const TokenId>> of(std::span<const float> logits, std::span<const TokenId> tokens,
                                                                 std::span<const ExtraToken> extra, const float* extra_logits);

 private:
  std::vector<float> logits_;
  std::vector<TokenId> tokens_;
};

// For one step at a time.
class ExtraLogits {
 public:
  ExtraLogits(const Kernels& kernels, ThreadPool& pool) : kernels_(kernels), pool_(pool) {}

  // out [rows, kExtraTokens] as Ops::linear_extra() says. extra: [rows, kExtraTokens]. head: the
  // output layer, of one part.
  void run(Tensor in, const CpuWeight& head, std::span<const ExtraToken> extra, Tensor out);

 private:
  void unpack(const CpuWeight& head, TokenId token, float* row) const;
  void keep(const CpuWeight& head, std::span<const ExtraToken> extra);
  size_t place(TokenId token) const { return static_cast<size_t>(token) % kept_.size(); }

  const Kernels& kernels_;
  ThreadPool& pool_;
  const CpuWeight* head_ = nullptr;  // whose rows are kept
  std::vector<TokenId> kept_;        // [places] the token whose row lies there; -1: none
  std::vector<float> rows_;          // [places, cols]
};

}  // namespace slipstream
