#include "common/keys/enrolled.h"

#include "common/keys/key_file.h"

namespace slipstream {

Result<Enrolled> Enrolled::read(const std::filesystem::path& folder, std::vector<std::string>* faults) {
  // The error_code overloads, and increment() below, report a failure instead of throwing it.
  std::error_code error;
  std::filesystem::directory_iterator files(folder, error);
  if (error)
    return fail("cannot read the folder of enrolled keys {}: {}; `slipstream keys new` makes one", folder.string(),
                error.message());
  Enrolled enrolled;
  enrolled.folder_ = folder;
  for (const std::filesystem::directory_iterator end; files != end; files.increment(error)) {
    if (error) return fail("cannot read the folder of enrolled keys {}: {}", folder.string(), error.message());
    if (files->path().extension() != ".pub") continue;
    Result<void> added = enrolled.add(files->path());
    if (added) continue;
    if (faults == nullptr) return std::unexpected(std::move(added.error()));
    faults->push_back(std::move(added.error().message));
  }
  return enrolled;
}

Result<void> Enrolled::add(const std::filesystem::path& file) {
  const std::string name = file.stem().string();
  if (const auto fine = check_key_name(name); !fine) return fail("{}: {}", file.string(), fine.error().message);
  TRY(const std::string key, read_public_key(file));
  // A key must prove one name: with two, a link could be that of either process.
  if (const std::string* other = name_of(key)) {
    return fail("{} holds the key of {} once more: who of the two is it? Give each its own with `slipstream keys new`",
                file.string(), *other);
  }
  keys_[name] = key;
  names_[key] = name;
  return {};
}

const std::string* Enrolled::key_of(const std::string& name) const {
  const auto at = keys_.find(name);
  return at == keys_.end() ? nullptr : &at->second;
}

const std::string* Enrolled::name_of(const std::string& public_key) const {
  const auto at = names_.find(public_key);
  return at == names_.end() ? nullptr : &at->second;
}

std::vector<std::string> Enrolled::names_of(std::string_view role) const {
  std::vector<std::string> names;
  for (const auto& [name, key] : keys_) {
    if (key_is_of(name, role)) names.push_back(name);
  }
  return names;
}

}  // namespace slipstream
