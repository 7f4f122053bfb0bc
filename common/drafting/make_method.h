// Makes the draft method that the command line asks for.
#pragma once

#include <memory>

#include "common/config/drafter_config.h"
#include "common/drafting/look_up_texts.h"
#include "common/drafting/method.h"

namespace slipstream {

// target: the fingerprint of the target model, whose tokens the trees are made of. texts: of ngram.
// An error names the folder and what is wrong with it.
Result<std::unique_ptr<Method>> make_method(const DrafterOptions& options, const Fingerprint& target,
                                            std::shared_ptr<LookUpTexts> texts);

}  // namespace slipstream
