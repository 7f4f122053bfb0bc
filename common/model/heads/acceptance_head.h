// The acceptance head of SpecDec++ (2405.19715, Section 3.2, equation 3.1): a small ResNet that
// predicts, from a drafter's last hidden state after it has read a drafted token, whether the
// target will accept that token.
//
//   x_0 = hidden state                          [hidden]
//   x_(d+1) = x_d + silu(W_d x_d + b_d)         for d < D; the paper's D + 1 layers, with the last
//   z = W x_D + b                               [2] a column for greedy requests, one for sampled ones
//   P = sigmoid(z + c * logit(confidence))      c [2]
//
// The last term is ours: the confidence that the drafter stated for the token when it proposed it.
// At temperature 0 it is q(token); above, it also knows the noise by which the target will choose
// (sampling/rank.h), of which no hidden state knows anything. P is calibrated on held-out text when
// the head is trained.
//
// The drafter is a draft head or a small model. An acceptance head lies beside it
// (acceptance_folder(); docs/use/TRAIN.md) and names the drafter whose hidden states it was trained
// on. A drafter works without one: the nodes of its trees then have the confidences that it states.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/model/device.h"

namespace slipstream {

inline constexpr const char* kAcceptanceDrafterKey = "drafter";  // of its metadata: whose it is, 16 hexadecimal digits
inline constexpr int kAcceptanceLayersMax = 8;
inline constexpr int32_t kAcceptanceColumns = 2;
inline constexpr int32_t acceptance_column(bool sampled) { return sampled ? 1 : 0; }

// Of a stated confidence, which may be 0 or 1.
float logit_of_confidence(float confidence);

class AcceptanceHead {
 public:
  // Nothing if the drafter has none. drafter_hash: of a draft head draft_head_hash(), of a model
  // its weights' (checkpoint/fingerprint.h). Errors: a tensor that is missing or of another shape;
  // an acceptance head of another drafter.
  static Result<std::optional<AcceptanceHead>> load(const std::filesystem::path& drafter, uint64_t drafter_hash, int32_t hidden,
                                                    Device& device, int32_t rows_max);

  // state: [rows, hidden], which is overwritten.
  void predict(Ops& ops, Tensor state) const;
  // That the target accepts the token of a row of the last predict(), given that it accepted all
  // before it. confidence: as the drafter stated it. NaN if the state was no number.
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

// Where a drafter's acceptance head lies: the folder `acceptance` in that of a draft head or of a
// model, and FILE-acceptance beside a GGUF file.
std::filesystem::path acceptance_folder(const std::filesystem::path& drafter);

// XXH3-64 of the file of a draft head's weights.
Result<uint64_t> draft_head_hash(const std::filesystem::path& draft_head);

}  // namespace slipstream
