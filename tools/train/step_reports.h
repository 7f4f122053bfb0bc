// What steps of a training report, while a device may still be computing them. Reading a number
// waits for the device, so all of them are read together, when somebody asks.
#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "common/base/result.h"

namespace slipstream::train {

struct StepReport {
  int64_t step = 0;  // the first is 1
  double loss = 0;   // nats per token, mean of the step's predictions
  double gradient_norm = 0;
  double learning_rate = 0;

  bool finite() const;
};

class StepReports {
 public:
  // report: but for loss and norm, which are scalars on the device, f64.
  void add(const StepReport& report, const at::Tensor& loss, const at::Tensor& gradient_norm);
  // Of the steps since the last read, up to the first whose loss or norm is not finite.
  std::vector<StepReport> read();

 private:
  std::vector<StepReport> reports_;
  std::vector<at::Tensor> numbers_;  // loss and norm of each
};

}  // namespace slipstream::train
