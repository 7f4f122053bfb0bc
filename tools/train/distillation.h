// Distillation: a model learns what its teacher gives each token, not only which token came. p is
// the teacher's distribution of the next token, q the model's.
//
//   forward_kl       sum p log(p / q)      q covers all that p may say
//   reverse_kl       sum q log(q / p)      q keeps to what p says
//   total_variation  1/2 sum |p - q|       what a draft of q is rejected with by the ratio rule:
//                                          1 - sum min(p, q) (Leviathan et al., 2211.17192, Theorem 3.5)
//
// DistillSpec (2310.08461, Section 4) compares these for drafters.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include <ATen/core/Tensor.h>

#include "tools/train/llama_module.h"

namespace slipstream::train {

enum class Divergence : uint8_t { forward_kl, reverse_kl, total_variation };
// As the flag --loss has them, in the order of the enum.
inline constexpr std::array<std::string_view, 3> kDivergences{"forward-kl", "reverse-kl", "total-variation"};
constexpr std::string_view divergence_name(Divergence kind) { return kDivergences[static_cast<size_t>(kind)]; }

// logits: [rows, vocabulary]. Returns [rows]: nats, or of total_variation a chance.
at::Tensor divergence(Divergence kind, const at::Tensor& teacher, const at::Tensor& model);

// The teacher's logits of `rows` rows from row `first` on: [rows, vocabulary], without gradients,
// made when they are asked for.
using TeacherLogits = std::function<at::Tensor(int64_t first, int64_t rows)>;
struct TaughtRows {
  TeacherLogits teacher;
  Divergence divergence = Divergence::forward_kl;
};

struct Teacher {
  LlamaModule module;  // of the model's vocabulary
  Divergence divergence = Divergence::forward_kl;
};

// hidden: [rows, hidden] of model.hidden(). Returns the sum of the teacher's divergence over the
// rows, divided by `divisor`: a scalar, f64, on the model's device. Adds its gradients to the
// model's weights'.
at::Tensor distil_backward(const LlamaModule& model, const at::Tensor& hidden, const TaughtRows& taught, double divisor);
// The same of the first `length` tokens of all sequences. tokens: [sequences, length + 1] i64.
at::Tensor distillation_loss_backward(const LlamaModule& model, const Teacher& teacher, const at::Tensor& tokens,
                                      double divisor);

// How near a model is to its teacher. Sums over rows.
struct Agreement {
  int64_t rows = 0;
  double divergence = 0;  // the teacher's
  double greedily = 0;    // rows where both have the same likeliest token: a greedy draft would be accepted
  double sampled = 0;     // 1 - total_variation: the chance that a sampled draft would be

  void add(const Agreement& other);
};
// Makes no gradients.
Agreement agreement(const LlamaModule& model, const at::Tensor& hidden, const TaughtRows& taught);
Agreement agreement(const LlamaModule& model, const Teacher& teacher, const at::Tensor& tokens);

}  // namespace slipstream::train
