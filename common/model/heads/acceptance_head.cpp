#include "common/model/heads/acceptance_head.h"

#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>
#include <xxhash.h>

#include "common/checkpoint/checkpoint.h"
#include "common/checkpoint/dequantise.h"
#include "common/checkpoint/mapped_file.h"
#include "common/model/weight_loader.h"

namespace slipstream {
namespace {

constexpr const char* kWeightsFile = "model.safetensors";
constexpr float kConfidenceLeast = 1e-6F;

Result<void> belongs_to(const std::filesystem::path& folder, uint64_t drafter_hash) {
  TRY(const SafetensorsFile file, SafetensorsFile::open(folder / kWeightsFile));
  const std::string hash = fmt::format("{:016x}", drafter_hash);
  const auto found = file.metadata().find(kAcceptanceDrafterKey);
  if (found != file.metadata().end() && found->second == hash) return {};
  return fail(
      "{} was trained for another drafter ({}; this one's weights are {}): it would predict badly. Remove the folder, or "
      "train one with `slipstream-train acceptance`",
      folder.string(), found == file.metadata().end() ? "it does not say which" : found->second, hash);
}

}  // namespace

Result<uint64_t> draft_head_hash(const std::filesystem::path& draft_head) {
  TRY(const MappedFile file, MappedFile::open(draft_head / kWeightsFile));
  return XXH3_64bits(file.bytes().data(), file.bytes().size());
}

std::filesystem::path acceptance_folder(const std::filesystem::path& drafter) {
  std::error_code ignored;
  if (std::filesystem::is_directory(drafter, ignored)) return drafter / "acceptance";
  return drafter.string() + "-acceptance";
}

Result<std::optional<AcceptanceHead>> AcceptanceHead::load(const std::filesystem::path& drafter, uint64_t drafter_hash,
                                                           int32_t hidden, Device& device, int32_t rows_max) {
  const std::filesystem::path folder = acceptance_folder(drafter);
  std::error_code ignored;
  if (!std::filesystem::exists(folder, ignored)) return std::nullopt;
  if (!std::filesystem::exists(folder / kWeightsFile, ignored)) {
    return fail("{} holds no acceptance head ({} is missing): remove it, or train one with `slipstream-train acceptance`",
                folder.string(), kWeightsFile);
  }
  TRY_VOID(belongs_to(folder, drafter_hash));
  TRY(const Checkpoint checkpoint, Checkpoint::open(folder));
  std::vector<const Weight*> weights;
  const WeightLoader load{checkpoint, &device, Format::matrix, {}, weights};
  const auto layer_of = [&](const std::string& name, int32_t rows) -> Result<Layer> {
    TRY(Weight * weight, load.stack({{name + ".weight", rows}}, hidden));
    TRY(Weight * bias, load.column({{name + ".bias", rows}}));
    return Layer{weight, bias};
  };
  AcceptanceHead head;
  for (int d = 0; d < kAcceptanceLayersMax && checkpoint.has(fmt::format("layers.{}.weight", d)); ++d) {
    TRY(const Layer layer, layer_of(fmt::format("layers.{}", d), hidden));
    head.layers_.push_back(layer);
  }
  TRY(head.out_, layer_of("out", kAcceptanceColumns));
  TRY(const HostMatrix stated, checkpoint.matrix("confidence.weight", 1, kAcceptanceColumns));
  read_row(stated, 0, head.stated_);
  head.device_ = &device;
  TRY(head.delta_, device.scratch(rows_max, hidden, device.activations()));
  TRY(head.logits_, device.output(rows_max, kAcceptanceColumns, Type::f32));
  return head;
}

void AcceptanceHead::predict(Ops& ops, Tensor state) const {
  Tensor delta = delta_, logits = logits_;
  delta.rows = logits.rows = state.rows;
  for (const Layer& layer : layers_) {
    ops.linear(state, *layer.weight, layer.bias, delta);
    ops.add_silu(delta, state);
  }
  ops.linear(state, *out_.weight, out_.bias, logits);
}

float AcceptanceHead::probability(size_t row, float confidence, bool sampled) const {
  const auto column = static_cast<size_t>(acceptance_column(sampled));
  Tensor logits = logits_;
  logits.rows = static_cast<int32_t>(row) + 1;
  const float z = static_cast<const float*>(device_->host(logits))[row * kAcceptanceColumns + column];
  return 1.0F / (1.0F + std::exp(-(z + stated_[column] * logit_of_confidence(confidence))));
}

float logit_of_confidence(float confidence) {
  const float within = std::clamp(confidence, kConfidenceLeast, 1 - kConfidenceLeast);
  return std::log(within / (1 - within));
}

}  // namespace slipstream
