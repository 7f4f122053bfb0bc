// Writes a whole text to a file, or says why it could not (a full disk, a limit on file size).
#pragma once

#include <string>
#include <string_view>

namespace slipstream {

// flags: for open(2), added to O_WRONLY and O_CLOEXEC. A file that is created has mode 0644.
//
// Returns 0, or the errno of the failed call. After an error the file may hold a part of the text.
int write_whole(const std::string& path, int flags, std::string_view text);

}  // namespace slipstream
