// The settings of look-up drafting, which verifiers (--resident ngram) and drafters (--method
// ngram) have alike.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/names.h"

namespace slipstream {

class CommandLine;
class Problems;

inline constexpr size_t kCorporaMax = 8;

struct LookUpOptions {
  std::string where = std::string(kLookUpTenant);  // kLookUpNames
  std::vector<std::string> corpora;                // files of `slipstream corpus`
  std::string file;                                // keeps the tenants' answers over restarts; empty: none

  // --look-up, --look-up-corpus, --look-up-file. scope: begins their help: "ngram: ".
  void declare(CommandLine& line, std::string_view scope);
  // choose: the flag that makes the service look up, if nothing does: "--method ngram". Else empty.
  // Looks at the file (look_up_file.h), but not at what is in it, nor at the corpora.
  void check(Problems& problems, std::string_view choose) const;
};

}  // namespace slipstream
