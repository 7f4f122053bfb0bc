// CURVE key pairs, and the files that hold them. docs/use/KEYS.md describes their use.
//
//   NAME.key    both keys of the pair; only its owner may read it
//   NAME.pub    the public key, for all processes of the cluster
//
// NAME begins with a role (base/names.h): "drafter", "drafter-2".
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "common/base/names.h"
#include "common/base/result.h"

namespace slipstream {

struct KeyPair {
  std::string public_key, secret_key;  // Z85 text of 40 characters each
};

// A new random pair. Aborts if libzmq was built without CURVE.
KeyPair make_key_pair();

// Checks a name: a role, or a role, a dash and more. It has small letters, digits and dashes only,
// at most 64.
Result<void> check_key_name(std::string_view name);

// Checks that the name is valid and that neither of its files exists below the folder.
Result<void> check_free(const std::filesystem::path& folder, std::string_view name);
// Writes FOLDER/NAME.key (mode 0600) and FOLDER/peers/NAME.pub, and creates the folders. After an
// error neither file is there. An existing file is an error and is never overwritten.
Result<void> write_key_files(const std::filesystem::path& folder, std::string_view name, const KeyPair& pair);
// Removes both files, as far as they exist.
void remove_key_files(const std::filesystem::path& folder, std::string_view name);

// Whether a file of this mode and owner may hold the secret of a process that runs as `reader`: its
// owner reads it alone, or it is root's and a group of the process may read it, too. Kubernetes
// hands a Secret to a process that is not root in the latter way (fsGroup).
bool is_secret(mode_t mode, uid_t owner, uid_t reader);

// Reads NAME.key.
//
// Errors: the file is missing, other users can read it, it is truncated, or its two keys are no
// pair.
Result<KeyPair> read_key_file(const std::filesystem::path& file);
// Reads the public key of NAME.pub. Error: the file is missing or holds no public key.
Result<std::string> read_public_key(const std::filesystem::path& file);

}  // namespace slipstream
