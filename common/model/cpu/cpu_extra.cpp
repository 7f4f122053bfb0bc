#include "common/model/cpu/cpu_extra.h"

#include <algorithm>
#include <limits>

#include "common/base/check.h"

namespace slipstream {
namespace {

constexpr int32_t kTokensAtOnce = 32;  // of a range: some microseconds

// In sixteen sums, so that products need not wait for each other.
float dot(const float* a, const float* b, int32_t count) {
  constexpr int32_t kSums = 16;
  float sums[kSums] = {};
  int32_t at = 0;
  for (; at + kSums <= count; at += kSums) {
    for (int32_t i = 0; i < kSums; ++i) sums[i] += a[at + i] * b[at + i];
  }
  for (; at < count; ++at) sums[0] += a[at] * b[at];
  float sum = 0;
  for (const float each : sums) sum += each;
  return sum;
}

}  // namespace

std::pair<std::span<const float>, std::span<const TokenId>> JoinedRow::of(std::span<const float> logits,
                                                                          std::span<const TokenId> tokens,
                                                                          std::span<const ExtraToken> extra,
                                                                          const float* extra_logits) {
  if (extra.empty()) return {logits, tokens};
  logits_.assign(logits.begin(), logits.end());
  logits_.insert(logits_.end(), extra_logits, extra_logits + extra.size());
  tokens_.assign(tokens.begin(), tokens.end());
  for (const ExtraToken& each : extra) tokens_.push_back(each.token);
  return {logits_, tokens_};
}

void ExtraLogits::unpack(const CpuWeight& head, TokenId token, float* row) const {
  const CpuPanels& part = head.parts.front();
  unpack_row(part.format, linear_kernel(kernels_, part.format).layout, part.panels, head.in, token, row);
}

// On one thread, before others read. A row may make way for a later one of the same step.
void ExtraLogits::keep(const CpuWeight& head, std::span<const ExtraToken> extra) {
  if (head_ != &head) {
    const auto cols = static_cast<size_t>(head.in);
    head_ = &head;
    kept_.assign(std::max<size_t>(1, kExtraRowsBytes / (cols * sizeof(float))), -1);
    rows_.resize(kept_.size() * cols);
  }
  for (const auto [token, bonus] : extra) {
    if (token < 0 || kept_[place(token)] == token) continue;
    kept_[place(token)] = token;
    unpack(head, token, rows_.data() + place(token) * static_cast<size_t>(head.in));
  }
}

void ExtraLogits::run(Tensor in, const CpuWeight& head, std::span<const ExtraToken> extra, Tensor out) {
  CHECK(head.parts.size() == 1, "an output layer of {} parts", head.parts.size());
  keep(head, extra);
  pool_.run(static_cast<int32_t>(extra.size()), kTokensAtOnce, [&](int32_t begin, int32_t end, int) {
    std::vector<float> unkept;
    for (int32_t i = begin; i < end; ++i) {
      const int32_t row = i / kExtraTokens;
      const auto [token, bonus] = extra[static_cast<size_t>(i)];
      float& logit = static_cast<float*>(out.data)[i];
      logit = -std::numeric_limits<float>::infinity();
      if (token < 0) continue;
      const float* weights = rows_.data() + place(token) * static_cast<size_t>(head.in);
      if (kept_[place(token)] != token) {
        unkept.resize(static_cast<size_t>(head.in));
        unpack(head, token, unkept.data());
        weights = unkept.data();
      }
      logit = dot(row_of(in, row), weights, head.in) + bonus;
    }
  });
}

}  // namespace slipstream
