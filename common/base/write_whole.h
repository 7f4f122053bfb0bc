// Writes a whole text to a file, or says why it could not (a full disk, a limit on file size).
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "common/base/result.h"

namespace slipstream {

// flags: for open(2), added to O_WRONLY and O_CLOEXEC. mode: of a file that is created.
//
// Returns 0, or the errno of the failed call. After an error the file may hold a part of the text.
int write_whole(const std::string& path, int flags, std::string_view text, mode_t mode = 0644);

// Makes a file of this text, or gives an existing one this text: at every moment a reader finds the
// former text or the whole new one, also if this process is killed. (After a power cut it may find
// less.) The text is written to a file beside it, which is then renamed. what: names it in the
// error, "the port file".
Result<void> replace_whole(const std::string& path, std::string_view text, std::string_view what, mode_t mode = 0644);

}  // namespace slipstream
