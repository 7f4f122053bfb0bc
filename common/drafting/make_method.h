// Makes the draft method that the command line asks for.
#pragma once

#include <memory>

#include "common/base/names.h"
#include "common/config/drafter_config.h"
#include "common/drafting/method.h"

namespace slipstream {

// target: the fingerprint of the target model, whose tokens the trees are made of. An error names
// the folder and what is wrong with it.
Result<std::unique_ptr<Method>> make_method(const DrafterOptions& options, const Fingerprint& target);

// The same of each method, make_ngram() and so on; each is defined in its method's own file.
#define SLIPSTREAM_DECLARE(id, ...) \
  Result<std::unique_ptr<Method>> make_##id(const DrafterOptions& options, const Fingerprint& target);
SLIPSTREAM_DRAFT_METHODS(SLIPSTREAM_DECLARE)
#undef SLIPSTREAM_DECLARE

}  // namespace slipstream
