// Command-line flags that choose the model of a benchmark.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "common/config/settings_checks.h"
#include "common/model/cpu/cpu_device.h"
#include "common/model/language_model.h"

namespace slipstream {

// Which model a benchmark runs, and how.
struct ModelFlags {
  std::string model, path = "auto", weights = "file";
  int threads = 2;

  void add_to(CLI::App& app) {
    app.add_option("--model", model, "Hugging Face folder or GGUF file")->required();
    app.add_option("--threads", threads, "compute threads")->capture_default_str();
    app.add_option("--path", path, "instructions; auto: the fastest")
        ->check(CLI::IsMember(path_choices()))
        ->capture_default_str();
    app.add_option("--weights", weights, "format of the matrices; file: as the file has them")
        ->check(CLI::IsMember(weights_choices()))
        ->capture_default_str();
  }
  // head: folder of a draft head; empty: none.
  Result<LanguageModel> load(int32_t cache_blocks, const std::string& head = {}) const {
    TRY(std::shared_ptr<Device> device,
        make_cpu_device({.threads = threads, .path = cpu_path(path), .weights = weight_format(weights)}));
    return LanguageModel::load(model, device, {.cache_blocks = cache_blocks, .head = head});
  }
};

}  // namespace slipstream
