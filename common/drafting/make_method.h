// Makes the draft method that the command line asks for.
#pragma once

#include <memory>

#include "common/base/names.h"
#include "common/config/drafter_config.h"
#include "common/drafting/look_up_texts.h"
#include "common/drafting/method.h"

namespace slipstream {

// What methods are made of.
struct MethodParts {
  const DrafterOptions& options;
  const Fingerprint& target;           // of the target model, whose tokens the trees are made of
  std::shared_ptr<LookUpTexts> texts;  // of look-up
};

// Errors name the folder and what is wrong with it.
Result<std::unique_ptr<Method>> make_method(const MethodParts& parts);

// The same of each method, make_ngram() and so on; each is defined in its method's own file.
#define SLIPSTREAM_DECLARE(id, ...) Result<std::unique_ptr<Method>> make_##id(const MethodParts& parts);
SLIPSTREAM_DRAFT_METHODS(SLIPSTREAM_DECLARE)
#undef SLIPSTREAM_DECLARE

}  // namespace slipstream
