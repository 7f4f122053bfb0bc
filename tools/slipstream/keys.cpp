#include <span>

#include <fmt/format.h>

#include "common/keys/key_file.h"
#include "tools/slipstream/commands.h"

namespace slipstream::command {

Result<void> make_keys(const KeysOptions& options) {
  std::vector<std::string> names = options.names;
  if (names.empty()) names.assign(std::begin(kRoles), std::end(kRoles));
  for (const std::string& name : names) TRY_VOID(check_free(options.folder, name));  // before anything is written
  for (size_t made = 0; made < names.size(); ++made) {
    auto written = write_key_files(options.folder, names[made], make_key_pair());
    if (written) continue;
    // All or nothing: remove the keys that this call has already written.
    for (const std::string& name : std::span(names).first(made)) remove_key_files(options.folder, name);
    return written;
  }
  for (const std::string& name : names) {
    fmt::print("{}  (secret: for the {}'s machine only)\n", (options.folder / (name + ".key")).string(), name);
  }
  const std::string peers = (options.folder / "peers").string();
  fmt::print(
      "{}  (public: the same folder for every process)\n\n"
      "Copy {} to every machine, and each .key to its own. Then start each process with its key and the folder:\n"
      "  --key {} --peers {}\n"
      "One more drafter: slipstream keys new {} drafter-2. To lock one out: delete its .pub everywhere.\n",
      peers, peers, (options.folder / (names.front() + ".key")).string(), peers, options.folder.string());
  return {};
}

}  // namespace slipstream::command
