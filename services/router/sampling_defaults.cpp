#include "services/router/sampling_defaults.h"

#include <filesystem>

#include <fmt/format.h>

#include "common/base/limits.h"
#include "common/checkpoint/gguf/file.h"
#include "common/checkpoint/json_file.h"
#include "common/sampling/logits_params.h"

namespace slipstream {
namespace {

constexpr double kTopKMost = 1 << 20;

// The names of the values in one kind of file.
struct Names {
  const char *temperature, *top_p, *top_k, *min_p, *repetition_penalty;
};
constexpr Names kFolderNames{"temperature", "top_p", "top_k", "min_p", "repetition_penalty"};
constexpr Names kGgufNames{"general.sampling.temp", "general.sampling.top_p", "general.sampling.top_k",
                           "general.sampling.min_p", "general.sampling.penalty_repeat"};

// fields: has has() and number(), as JsonFields and GgufFields do.
template <class Fields>
Result<SamplingDefaults> read(const Fields& fields, const Names& names) {
  SamplingDefaults defaults;
  const auto take = [&](const char* name, double least, double most, auto& value) -> Result<void> {
    if (!fields.has(name)) return {};
    TRY(const double read, fields.number(name, least, most));
    value = static_cast<std::remove_reference_t<decltype(value)>>(read);
    return {};
  };
  TRY_VOID(take(names.temperature, 0, static_cast<double>(kTemperatureMax), defaults.params.temperature));
  TRY_VOID(take(names.top_p, kDefaultTopPMin, 1, defaults.params.top_p));
  TRY_VOID(take(names.top_k, 0, kTopKMost, defaults.params.top_k));
  TRY_VOID(take(names.min_p, 0, kDefaultMinPMax, defaults.params.min_p));
  TRY_VOID(take(names.repetition_penalty, static_cast<double>(kRepetitionPenaltyMin),
                static_cast<double>(kRepetitionPenaltyMax), defaults.repetition_penalty));
  return defaults;
}

Result<SamplingDefaults> recommended(const std::filesystem::path& model) {
  if (is_model_file(model)) {
    TRY(const GgufFile file, GgufFile::open(model));
    return read(file.fields(), kGgufNames);
  }
  const auto path = model / "generation_config.json";
  if (std::error_code ignored; !std::filesystem::exists(path, ignored)) return SamplingDefaults{};
  TRY(const JsonText json, read_json_object(path));
  return read(JsonFields(json.root, path.string()), kFolderNames);
}

}  // namespace

Result<SamplingDefaults> read_sampling_defaults(const RouterOptions& options) {
  TRY(SamplingDefaults defaults, recommended(options.model));
  const auto flag = [](const auto& given, auto& value) {
    if (given) value = static_cast<std::remove_reference_t<decltype(value)>>(*given);
  };
  flag(options.default_temperature, defaults.params.temperature);
  flag(options.default_top_p, defaults.params.top_p);
  flag(options.default_top_k, defaults.params.top_k);
  flag(options.default_min_p, defaults.params.min_p);
  flag(options.default_repetition_penalty, defaults.repetition_penalty);
  if (defaults.params.temperature < kTemperatureMin) defaults.params.temperature = 0;
  return defaults;
}

std::string words_of(const SamplingDefaults& defaults) {
  const SamplingParams& params = defaults.params;
  std::string words = fmt::format("temperature {}", params.temperature);
  if (params.top_p < 1) words += fmt::format(", top_p {}", params.top_p);
  if (params.top_k > 0) words += fmt::format(", top_k {}", params.top_k);
  if (params.min_p > 0) words += fmt::format(", min_p {}", params.min_p);
  if (defaults.repetition_penalty != 1) words += fmt::format(", repetition_penalty {}", defaults.repetition_penalty);
  return words;
}

}  // namespace slipstream
