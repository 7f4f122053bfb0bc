#include "tools/train/weights.h"

#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include "common/base/check_beside_torch.h"
#include "common/checkpoint/dequantise.h"

namespace slipstream::train {
namespace {

constexpr double kDeviation = 0.02;

at::Tensor shaped(const TensorSpec& spec, at::Tensor flat) {
  return spec.is_vector() ? flat : flat.view({spec.rows, spec.cols});
}

at::Tensor begin(const TensorSpec& spec, int32_t layers, at::Generator& random) {
  const int64_t numbers = int64_t{spec.rows} * spec.cols;
  switch (spec.role) {
    case TensorRole::gain:
      return at::ones({numbers});
    case TensorRole::bias:
      return at::zeros({numbers});
    case TensorRole::output:
      return shaped(spec, at::empty({numbers}).normal_(0, kDeviation / std::sqrt(2.0 * layers), random));
    case TensorRole::embedding:
    case TensorRole::matrix:
      break;
  }
  return shaped(spec, at::empty({numbers}).normal_(0, kDeviation, random));
}

constexpr std::string_view kLayer = "model.layers.";

std::string source_of(const std::string& name, std::span<const int32_t> layers) {
  if (layers.empty() || !name.starts_with(kLayer)) return name;
  const size_t dot = name.find('.', kLayer.size());
  const int layer = std::stoi(name.substr(kLayer.size(), dot - kLayer.size()));
  return fmt::format("{}{}{}", kLayer, layers[static_cast<size_t>(layer)], name.substr(dot));
}

}  // namespace

Result<Weights> Weights::load(const Checkpoint& checkpoint, const std::vector<TensorSpec>& specs,
                              std::span<const int32_t> layers) {
  Weights weights;
  for (const TensorSpec& spec : specs) {
    TRY(const HostMatrix matrix, checkpoint.matrix(source_of(spec.name, layers), spec.rows, spec.cols));
    at::Tensor value = at::empty({int64_t{spec.rows} * spec.cols});
    const auto cols = static_cast<size_t>(spec.cols);
    for (int32_t row = 0; row < spec.rows; ++row) {
      read_row(matrix, row, {value.mutable_data_ptr<float>() + static_cast<size_t>(row) * cols, cols});
    }
    weights.add(spec, shaped(spec, std::move(value)));
  }
  return weights;
}

Weights Weights::random(const std::vector<TensorSpec>& specs, int32_t layers, uint64_t seed) {
  Weights weights;
  at::Generator random = at::detail::createCPUGenerator(seed);
  for (const TensorSpec& spec : specs) weights.add(spec, begin(spec, layers, random));
  return weights;
}

Weights Weights::mean(std::span<const Weights> trained) {
  const at::NoGradGuard no_gradients;
  Weights mean;
  for (const Parameter& parameter : trained.front().parameters_) {
    at::Tensor sum = parameter.value.detach().clone();
    for (const Weights& other : trained.subspan(1)) sum.add_(other.at(parameter.spec.name));
    mean.add(parameter.spec, sum.div_(static_cast<double>(trained.size())));
  }
  return mean;
}

void Weights::add(TensorSpec spec, at::Tensor value) {
  value.requires_grad_(true);
  index_.emplace(spec.name, parameters_.size());
  parameters_.push_back({std::move(spec), std::move(value)});
}

Weights Weights::on(at::Device device) const {
  if (parameters_.empty() || parameters_.front().value.device() == device) return *this;
  Weights there;
  for (const Parameter& parameter : parameters_) there.add(parameter.spec, parameter.value.detach().to(device));
  return there;
}

Weights Weights::without(std::string_view name) const {
  Weights others;
  for (const Parameter& parameter : parameters_) {
    if (parameter.spec.name != name) others.add(parameter.spec, parameter.value);
  }
  return others;
}

const at::Tensor& Weights::at(std::string_view name) const {
  const auto found = index_.find(name);
  CHECK(found != index_.end(), "no tensor {}", name);
  return parameters_[found->second].value;
}

int64_t Weights::numbers() const {
  int64_t numbers = 0;
  for (const Parameter& parameter : parameters_) numbers += parameter.value.numel();
  return numbers;
}

}  // namespace slipstream::train
