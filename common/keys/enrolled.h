// The public keys of a cluster's processes: the files NAME.pub of one folder. A process is enrolled
// by putting its file there, and revoked by removing it.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace slipstream {

class Enrolled {
 public:
  // Reads the folder.
  //
  // Errors: the folder cannot be read; and, for each file, that it holds no key, that its name has
  // no role, or that its key is there under another name already. If `faults` is not null, a bad
  // file is no error: it is left out, and `faults` gets a sentence. A running process reads the
  // folder so, because a bad file must not delay the revocation of another key.
  static Result<Enrolled> read(const std::filesystem::path& folder, std::vector<std::string>* faults = nullptr);

  // Null: not enrolled. The pointers are valid as long as this object.
  const std::string* key_of(const std::string& name) const;
  const std::string* name_of(const std::string& public_key) const;
  std::vector<std::string> names_of(std::string_view role) const;
  const std::filesystem::path& folder() const { return folder_; }
  bool operator==(const Enrolled&) const = default;

 private:
  Result<void> add(const std::filesystem::path& file);

  std::filesystem::path folder_;
  std::map<std::string, std::string> keys_;   // public key of each name
  std::map<std::string, std::string> names_;  // name of each public key
};

}  // namespace slipstream
