#include "tools/train/step_reports.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <ATen/ops/stack.h>

namespace slipstream::train {

bool StepReport::finite() const { return std::isfinite(loss) && std::isfinite(gradient_norm); }

void StepReports::add(const StepReport& report, const at::Tensor& loss, const at::Tensor& gradient_norm) {
  reports_.push_back(report);
  numbers_.push_back(loss);
  numbers_.push_back(gradient_norm);
}

std::vector<StepReport> StepReports::read() {
  std::vector<StepReport> reports = std::exchange(reports_, {});
  if (reports.empty()) return reports;
  const at::Tensor numbers = at::stack(std::exchange(numbers_, {})).to(at::kCPU);
  const double* number = numbers.const_data_ptr<double>();
  for (StepReport& report : reports) {
    report.loss = *number++;
    report.gradient_norm = *number++;
  }
  const auto broken = std::ranges::find_if(reports, [](const StepReport& report) { return !report.finite(); });
  if (broken != reports.end()) reports.erase(broken + 1, reports.end());
  return reports;
}

}  // namespace slipstream::train
