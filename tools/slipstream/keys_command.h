// slipstream keys new: the key pairs of a cluster, or of one more process of it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace slipstream::command {

struct KeysOptions {
  std::filesystem::path folder;
  std::vector<std::string> names;  // none: one for each role
};

// Says what it made and what to do with it. Makes nothing if one of the names exists already, or if one
// of the files cannot be written.
Result<void> make_keys(const KeysOptions& options);

}  // namespace slipstream::command
