// The cpu device is row-invariant on every path and in every format of weights.
#include "tests/unit/common/model/row_invariance.h"

#include "common/model/cpu/cpu_device.h"

namespace slipstream {
namespace {

struct Model {
  const char* name;                                          // "" : the real one
  int32_t tokens;                                            // of the text under test
  std::optional<WeightFormat> weights = WeightFormat::bf16;  // none: the real one's GGUF file, as it is
  bool fine_rows = false;
};

OnDevice on(const Model& model, CpuPath path) {
  const bool real = *model.name == 0;
  std::string label = real ? "real" : model.name;
  std::erase(label, '-');
  return {.name = fmt::format("{}_{}{}_{}", label, model.weights ? name(*model.weights) : "file",
                              model.fine_rows ? "_fine" : "", name(path)),
          .model = !real           ? test_data(model.name)
                   : model.weights ? real_model()
                                   : real_gguf(),
          .tokens = model.tokens,
          .slow = real,
          .fine_rows = model.fine_rows,
          .device = [weights = model.weights, path](int threads) -> Result<std::shared_ptr<Device>> {
            return make_cpu_device({.threads = threads, .path = path, .weights = weights});
          }};
}

std::vector<OnDevice> on_each_path(const std::vector<Model>& models) {
  std::vector<OnDevice> all;
  for (const Model& model : models) {
    for (const CpuPath path : available_cpu_paths()) all.push_back(on(model, path));
  }
  return all;
}

const auto kNamed = [](const auto& info) { return info.param.name; };

INSTANTIATE_TEST_SUITE_P(Models, RowInvariance,
                         testing::ValuesIn(on_each_path({{"tiny-llama", 90},
                                                         {"tiny-llama3", 90},
                                                         {"tiny-qwen3", 90},
                                                         {"tiny-mistral", 90},
                                                         {"tiny-yarn", 90},
                                                         {"tiny-gemma2", 90},
                                                         {"tiny-gemma3", 90},
                                                         {"", 38}})),
                         kNamed);
INSTANTIATE_TEST_SUITE_P(SmallFormats, RowInvariance,
                         testing::ValuesIn(on_each_path({{"tiny-llama", 90, WeightFormat::q8_0},
                                                         {"tiny-llama", 90, WeightFormat::q4_0},
                                                         {"tiny-llama", 90, WeightFormat::q4_1},
                                                         {"tiny-llama", 90, WeightFormat::q5_1},
                                                         {"tiny-llama", 90, WeightFormat::q6_k},
                                                         {"tiny-qwen3", 90, WeightFormat::q4_1},
                                                         {"tiny-qwen2", 90, WeightFormat::q4_1, true}})),
                         kNamed);
INSTANTIATE_TEST_SUITE_P(RealFile, RowInvariance,
                         testing::Values(on({"", 38, std::nullopt}, best_cpu_path()),
                                         on({"", 38, std::nullopt, true}, best_cpu_path())),
                         kNamed);

}  // namespace
}  // namespace slipstream
