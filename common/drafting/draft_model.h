// The model that the command line gives a draft method.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "common/base/result.h"
#include "common/config/drafter_config.h"
#include "common/messages/common.h"
#include "common/model/device.h"
#include "common/model/language_model.h"

namespace slipstream {

struct DraftModelSource {
  std::filesystem::path folder;    // or a GGUF file
  std::string name;                // for status pages and logs
  std::shared_ptr<Device> device;  // that the model is to run on
};

// Finds the model and makes its device. Nothing of the model but its tokenizer is read.
// target: the fingerprint of the target model. Errors: the tokenizer is another one; the device has
// not what the options ask for.
Result<DraftModelSource> find_draft_model(const DrafterOptions& options, const Fingerprint& target);

// Tells the log how long the load took and how the model runs.
void log_draft_model(const LanguageModel& model, const DrafterOptions& options);

}  // namespace slipstream
