// AdamW (Loshchilov and Hutter 2019, algorithm 2): Adam with decoupled weight decay. It runs on
// torch's fused kernel. Matrices and embeddings decay; gains and biases do not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "tools/train/weights.h"

namespace slipstream::train {

struct AdamWOptions {
  double beta1 = 0.9, beta2 = 0.95, eps = 1e-8;
  double decay = 0.1;  // per step, times the learning rate
};

class AdamW {
 public:
  // Shares the tensors of `weights`, and keeps its own on their device.
  AdamW(const Weights& weights, const AdamWOptions& options);

  // Changes the weights by their gradients. REQUIRES: each tensor has a gradient.
  void step(double learning_rate) { step(learning_rate, {}); }
  // Decided on the device of the weights, so that nobody waits: undefined tensors count as 1 and 0.
  struct Gradients {
    at::Tensor divisor;  // scalar, f32: what they are divided by
    at::Tensor broken;   // scalar, f32: 1: this step changes nothing
  };
  void step(double learning_rate, const Gradients& gradients);
  void clear_gradients();

  // What a checkpoint keeps beside the weights. The tensors have the shapes of the weights.
  struct Moments {
    std::string name;               // of the weight
    at::Tensor mean, mean_squared;  // running averages of the gradient and of its square
  };
  const std::vector<Moments>& moments() const { return moments_; }
  void set_steps(int64_t steps);  // that were done before; the caller also writes into moments()

 private:
  // Those that decay, and those that do not: a call of the kernel has one decay.
  struct Group {
    double decay = 0;
    std::vector<at::Tensor> weights, means, means_squared, steps;
  };
  AdamWOptions options_;
  at::Tensor steps_;  // one number, which all tensors share
  std::vector<Moments> moments_;
  Group groups_[2];
};

}  // namespace slipstream::train
