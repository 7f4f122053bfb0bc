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

struct Teacher {
  LlamaModule module;  // of the model's vocabulary
  Divergence divergence = Divergence::forward_kl;
};

// tokens: [sequences, length + 1] i64. Returns the sum over the first `length` tokens of all
// sequences, divided by `divisor`, as next_token_loss() does. Makes no gradients.
at::Tensor distillation_loss(const LlamaModule& model, const Teacher& teacher, const at::Tensor& tokens, double divisor);
// The same; also adds its gradients to the model's weights'.
at::Tensor distillation_loss_backward(const LlamaModule& model, const Teacher& teacher, const at::Tensor& tokens,
                                      double divisor);

// How often a draft of one token would be accepted.
struct Agreement {
  int64_t rows = 0;
  double greedily = 0;  // rows where both have the same likeliest token
  double sampled = 0;   // sum of 1 - total_variation

  void add(const Agreement& other);
};
Agreement agreement(const LlamaModule& model, const Teacher& teacher, const at::Tensor& tokens);

}  // namespace slipstream::train
