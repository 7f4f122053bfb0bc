#include "common/model/weight_loader.h"

namespace slipstream {

Result<Weight*> WeightLoader::pack(std::span<const HostMatrix> stacked, Format format) const {
  if (device == nullptr) return nullptr;
  TRY(Weight * weight, device->pack(stacked, format));
  weights.push_back(weight);
  return weight;
}

Result<Weight*> WeightLoader::gain(const std::string& name, int32_t cols) const {
  TRY(HostMatrix matrix, checkpoint.matrix(name, 1, cols));
  matrix.offset = norm_offset;
  return pack({&matrix, 1}, Format::f32);
}

Result<Weight*> WeightLoader::stack(const std::vector<Part>& parts, int32_t cols) const {
  std::vector<HostMatrix> stacked;
  for (const Part& part : parts) {
    TRY(const HostMatrix matrix, checkpoint.matrix(part.name, part.rows, cols));
    stacked.push_back(matrix);
  }
  TRY(Weight * weight, pack(stacked, matrices));
  for (const HostMatrix& matrix : stacked) {
    if (packed) packed(matrix.bytes.size());
  }
  return weight;
}

Result<Weight*> WeightLoader::column(const std::vector<Part>& parts) const {
  std::vector<HostMatrix> stacked;
  for (const Part& part : parts) {
    TRY(const HostMatrix vector, checkpoint.matrix(part.name, part.rows, 1));
    stacked.push_back(vector);
  }
  return pack(stacked, Format::f32);
}

}  // namespace slipstream
