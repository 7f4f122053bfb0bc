// The public keys that belong to a cluster: the files NAME.pub of one folder. To enrol a process,
// put its file there; to revoke it, take the file away.
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
  // Errors: no such folder, a file that holds no key, a name without a role, one key under two
  // names. faults: not null, bad files are left out, with a sentence each, so that one of them
  // delays no revocation.
  static Result<Enrolled> read(const std::filesystem::path& folder, std::vector<std::string>* faults = nullptr);

  const std::string* key_of(const std::string& name) const;  // null: not enrolled
  const std::string* name_of(const std::string& public_key) const;
  std::vector<std::string> names_of(std::string_view role) const;
  const std::filesystem::path& folder() const { return folder_; }
  bool operator==(const Enrolled&) const = default;

 private:
  Result<void> add(const std::filesystem::path& file);

  std::filesystem::path folder_;
  std::map<std::string, std::string> keys_;   // by name
  std::map<std::string, std::string> names_;  // by key
};

}  // namespace slipstream
