// The acceptance head of SpecDec++ (2405.19715, Section 3.2, equation 3.1): a small ResNet that
// predicts, from a drafter's last hidden state after it has read a drafted token, whether the
// target will accept that token.
//
//   x_0 = hidden state                          [hidden]
//   x_(d+1) = x_d + silu(W_d x_d + b_d)         for d < D; the paper's D + 1 layers, with the last
//   z = W x_D + b                               [2] a column for greedy requests, one for sampled ones
//   P = sigmoid(z + c * logit(confidence))      c [2]
//
// The last term is ours: the confidence that the draft head stated for the token when it proposed
// it. At temperature 0 it is q(token); above, it also knows the noise by which the target will
// choose (sampling/rank.h), of which no hidden state knows anything. P is calibrated on held-out
// text when the head is trained.
//
// It lies in the folder `acceptance` of a draft head (docs/use/TRAIN.md) and names the head whose
// hidden states it was trained on. A draft head works without one: the nodes of its trees then have
// the confidences that it states.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/model/device.h"

namespace slipstream {

inline constexpr const char* kAcceptanceFolder = "acceptance";   // in the folder of a draft head
inline constexpr const char* kAcceptanceHeadKey = "draft_head";  // of its metadata: draft_head_hash(), 16 hexadecimal digits
inline constexpr int kAcceptanceLayersMax = 8;
inline constexpr int32_t kAcceptanceColumns = 2;
inline constexpr int32_t acceptance_column(bool sampled) { return sampled ? 1 : 0; }

// Of a stated confidence, which may be 0 or 1.
float logit_of_confidence(float confidence);

class AcceptanceHead {
 public:
  // Nothing if the draft head has none. Errors: a tensor that is missing or of another shape; an
  // acceptance head of another draft head.
  static Result<std::optional<AcceptanceHead>> load(const std::filesystem::path& draft_head, int32_t hidden, Device& device,
                                                    int32_t rows_max);

  // state: [rows, hidden], which is overwritten.
  void predict(Ops& ops, Shape shape, Tensor state) const;
  // That the target accepts the token of a row of the last predict(), given that it accepted all
  // before it. confidence: as the draft head stated it. NaN if the state was no number.
  float probability(size_t row, float confidence, bool sampled) const;

 private:
  struct Layer {
    Weight *weight = nullptr, *bias = nullptr;
  };
  Device* device_ = nullptr;
  std::vector<Layer> layers_;
  Layer out_;
  std::array<float, kAcceptanceColumns> stated_{};  // c
  Tensor delta_, logits_;                           // [rows_max, hidden], [rows_max, 2]
};

// XXH3-64 of the file of a draft head's weights.
Result<uint64_t> draft_head_hash(const std::filesystem::path& draft_head);

}  // namespace slipstream
