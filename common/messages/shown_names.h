// Names that a peer gives itself, its draft method, its model or its numerics, and that logs, pages
// and metrics show. Such a name is printable (base/printable.h) and has at most kShownNameBytesMax
// bytes, and no drafter's method has a name under which verifiers count their own drafts.
//
// A name that breaks a rule does not make its message malformed: whoever reads it refuses the peer,
// and tells it the reason. Pure.
#pragma once

#include <cstddef>
#include <string_view>

#include "common/base/result.h"
#include "common/messages/control.h"
#include "common/messages/draft.h"

namespace slipstream {

inline constexpr size_t kShownNameBytesMax = 256;

// Names under which a verifier counts what no drafter drafted: by its resident method (the prefix
// of its name), by the target's draft head and by the request's grammar; and what drafters of any
// further kind drafted.
inline constexpr std::string_view kResidentPrefix = "resident-", kHeadMethod = "head", kGrammarMethod = "grammar",
                                  kOtherMethods = "other";

// An error is a sentence that says what to change. It does not repeat the name.
Result<void> check_method_name(std::string_view method);
Result<void> check_model_name(std::string_view model);
Result<void> check_names(const Hello& hello);  // its endpoints are printable, too
Result<void> check_names(const Attached& attached);

}  // namespace slipstream
