// Command-line flags that choose the model of a benchmark.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "common/config/settings_checks.h"
#include "common/model/language_model.h"
#include "common/model/make_device.h"

namespace slipstream {

// Which model a benchmark runs, and how.
struct ModelFlags {
  std::string model, device = "cpu", path = "auto", weights = "file";
  int threads = 2;
  bool fast_rows = false, screen_output = false, fine_rows = false;

  void add_to(CLI::App& app) {
    app.add_option("--model", model, "Hugging Face folder or GGUF file")->required();
    app.add_option("--threads", threads, "compute threads")->capture_default_str();
    app.add_option("--path", path, "instructions; auto: the fastest")
        ->check(CLI::IsMember(path_choices()))
        ->capture_default_str();
    app.add_option("--weights", weights, "format of the matrices; file: as the file has them")
        ->check(CLI::IsMember(all_weights_choices()))
        ->capture_default_str();
    app.add_option("--device", device, "cpu, torch-cpu or cuda:N")->capture_default_str();
    app.add_flag("--fast-rows", fast_rows, "of torch's devices: a row's bits may depend on the others of its step");
    app.add_flag("--screen-output", screen_output, "read the output layer in part where only tokens are asked for");
    app.add_flag("--fine-rows", fine_rows, "round the rows of every matrix more finely");
  }
  // head: folder of a draft head; empty: none.
  Result<LanguageModel> load(int32_t cache_blocks, const std::string& head = {}) const {
    const std::optional<DeviceName> name = device_name(device);
    if (!name) return fail("--device {}: choose one of {}", device, kDeviceChoices);
    TRY(std::shared_ptr<Device> made,
        make_device({.name = *name, .threads = threads, .path = path, .weights = weights, .deterministic = !fast_rows}));
    return LanguageModel::load(
        model, made, {.cache_blocks = cache_blocks, .screen_output = screen_output, .fine_rows = fine_rows, .head = head});
  }
};

}  // namespace slipstream
