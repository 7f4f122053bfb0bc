// Reads texts from files, and makes token ids of them.
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/text/tokenizer.h"

namespace slipstream::train {

// Calls take() for each text of a file, in order, and stops at the first error:
//
//   *.jsonl     each line is an object, whose member "text" is a text
//   all others  the file is one text
//
// Errors name the file, and the line.
Result<void> each_document(const std::filesystem::path& file, const std::function<Result<void>(std::string_view)>& take);

// Appends the ids of a text in UTF-8. Special tokens that are written in it stay text. The
// tokenizer takes 180 bytes of memory per byte, so a long text is encoded in pieces of about a
// megabyte, which end where a line ends and no other white space is near: tokens never reach over
// such a place.
Result<void> append_ids(const Tokenizer& tokenizer, std::string_view text, std::vector<TokenId>& ids);

// The first piece of a text: all of it, or at most bytes_max bytes.
std::string_view first_piece(std::string_view text, size_t bytes_max);

}  // namespace slipstream::train
