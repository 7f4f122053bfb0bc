// CURVE key pairs in files. NAME.key holds both halves and is for its owner's eyes; NAME.pub holds
// the public one, for everybody. The name begins with a role: router, verifier or drafter
// ("drafter", "drafter-2"). docs/use/KEYS.md
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "common/base/names.h"
#include "common/base/result.h"

namespace slipstream {

struct KeyPair {
  std::string public_key, secret_key;  // as Z85 text, 40 characters each
};

KeyPair make_key_pair();

// A role, then nothing or "-" and more; letters, digits and dashes, at most 64 of them.
Result<void> check_key_name(std::string_view name);

// A good name that has no files there yet.
Result<void> check_free(const std::filesystem::path& folder, std::string_view name);
// FOLDER/NAME.key (mode 0600) and FOLDER/peers/NAME.pub, both or, on error, neither. Never
// overwrites; makes the folders.
Result<void> write_key_files(const std::filesystem::path& folder, std::string_view name, const KeyPair& pair);
void remove_key_files(const std::filesystem::path& folder, std::string_view name);

// Errors: missing, readable by others, truncated, or halves that do not belong together; a sentence
// with the way out.
Result<KeyPair> read_key_file(const std::filesystem::path& file);
Result<std::string> read_public_key(const std::filesystem::path& file);

}  // namespace slipstream
