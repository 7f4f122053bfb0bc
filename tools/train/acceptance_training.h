// The training of an acceptance head (SpecDec++, 2405.19715, Sections 3.2 and 3.3): weighted binary
// cross-entropy, then the weight is taken out again, then the logits are calibrated.
//
//   loss = - a log s - w_rej (1 - a) log(1 - s)      a: accepted, s: sigmoid of the logit
//   s    = P / (P + w_rej (1 - P)) at the minimum, so P = w_rej s / (1 - s + w_rej s): logit(P) = logit(s) + log(w_rej)
//
// So taking the weight out adds log(w_rej) to the last bias, exactly. Equal settings and data give
// equal bits.
#pragma once

#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "tools/train/acceptance_data.h"
#include "tools/train/traced_drafter.h"
#include "tools/train/weights.h"

namespace slipstream::train {

struct AcceptanceSettings {
  int layers = 1;            // D
  double reject_weight = 1;  // w_rej; that of accepted examples is 1
  int64_t epochs = 6;
  int64_t batch = 512;  // examples of a step
  double learning_rate = 1e-3;
  double decay = 0.01;
  uint64_t seed = 1;
  at::Device device = at::kCPU;  // that computes
};

// The tensors of an acceptance head (common/model/heads/acceptance_head.h).
std::vector<TensorSpec> acceptance_tensors(int32_t hidden, int layers);
// states: [rows, hidden]; confidence: [rows] logit_of_confidence(). Returns [rows, 2] logits of P.
at::Tensor acceptance_logits(const Weights& weights, int layers, const at::Tensor& states, const at::Tensor& confidence);
// [rows] the logit of each row's own column; `weights` are on the host.
std::vector<float> predicted(const Weights& weights, int layers, const AcceptanceExamples& examples);

// How well logits predict outcomes.
struct PredictionQuality {
  double loss = 0;   // nats
  double error = 0;  // expected calibration error
  double order = 0;  // the chance that an accepted example has the larger logit than a rejected one (area under the ROC curve)
};
PredictionQuality quality_of(std::span<const float> logits, std::span<const float> accepted);

// Trains, takes the weight out, and calibrates each column on data.calibrate. An error if a loss is
// not finite. The weights are on the host. A stop request ends it early, with weights of no use.
Result<Weights> train_acceptance_head(const AcceptanceData& data, const AcceptanceSettings& settings,
                                      const std::stop_token& stop = {});

// Writes it beside its drafter, whose hash it names.
Result<void> write_acceptance_folder(const DrafterPath& drafter, const Weights& weights);

}  // namespace slipstream::train
