#include "common/config/look_up_options.h"

#include <fmt/format.h>

#include "common/config/command_line.h"
#include "common/config/look_up_file.h"
#include "common/config/settings_checks.h"

namespace slipstream {

void LookUpOptions::declare(CommandLine& line, std::string_view scope) {
  line.option("--look-up", where,
              fmt::format("{}where it looks: own (the request's own text), tenant (also in answers to the same API key), all "
                          "(in all answers: only where each client may see every other's text)",
                          scope));
  line.option(
      "--look-up-corpus", corpora,
      fmt::format("{}file of `slipstream corpus`, in which all requests find drafts; may be given several times", scope));
  line.option("--look-up-file", file,
              fmt::format("{}file that keeps the answers of tenants while this process is not there: read at the start, "
                          "written at the end; each process has its own; none: they are forgotten",
                          scope));
}

void LookUpOptions::check(Problems& problems, std::string_view choose) const {
  problems.one_of("--look-up", where, {kLookUpNames.begin(), kLookUpNames.end()});
  if (corpora.size() > kCorporaMax) {
    problems.add(fmt::format("--look-up-corpus names {} files, and at most {} are allowed: make one corpus of several",
                             corpora.size(), kCorporaMax));
  }
  if (!choose.empty() && (!corpora.empty() || !file.empty())) {
    problems.add(
        fmt::format("--look-up-corpus and --look-up-file have no use here, where nothing looks up: choose {}", choose));
  }
  if (!file.empty() && where == kLookUpOwn) {
    problems.add("--look-up-file has no use with --look-up own, which remembers no answer: leave one of them out");
  } else if (!file.empty() && choose.empty()) {
    if (const auto usable = check_look_up_file(file); !usable) problems.add(usable.error().message);
  }
}

}  // namespace slipstream
