// Writes a text to a file, all of it or an error that says why: a full disk, a limit on a file's
// size.
#pragma once

#include <string>
#include <string_view>

namespace slipstream {

// flags: of open(2), beside O_WRONLY and O_CLOEXEC; a file that is made is 0644. Returns 0, or the
// errno of what went wrong, with a part written perhaps.
int write_whole(const std::string& path, int flags, std::string_view text);

}  // namespace slipstream
