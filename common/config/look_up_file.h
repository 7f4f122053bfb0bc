// The file that keeps look-up's answers over a restart (--look-up-file), as far as it can be looked
// at without a model: its folder, its kind, and whether another process has it. What is in it is
// drafting/tenant_file.h's.
#pragma once

#include <string>
#include <string_view>

#include "common/base/file_lock.h"
#include "common/base/result.h"

namespace slipstream {

inline constexpr std::string_view kLookUpFileMagic = "SLIPTEXT";  // its first bytes
inline constexpr std::string_view kLookUpFileWords = "file of remembered answers";
inline constexpr std::string_view kLookUpFileRemedy = "name another file with --look-up-file";

// Nothing if a process that starts now could take the file: it is absent or begins as
// write_tenant_file() makes one, of whatever version and state. An error if it is another file or a
// folder, which is then nobody's to move or to replace, if it cannot be read, if there is no folder
// that it could be written to, or if a process that runs has it. Changes nothing.
Result<void> check_look_up_file(const std::string& path);

// The same, and takes the file for as long as the lock lives: two processes that write one file
// would each lose what the other wrote.
Result<FileLock> take_look_up_file(const std::string& path);

}  // namespace slipstream
