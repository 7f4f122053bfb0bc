// Keeps the grammars that were compiled last: requests of one application mostly share one, and the
// choices of a request always do. Not thread-safe.
#pragma once

#include <cstddef>
#include <list>
#include <utility>

#include "common/grammar/grammar.h"

namespace slipstream {

inline constexpr size_t kGrammarsKept = 8;

class GrammarCache {
 public:
  explicit GrammarCache(Grammars grammars) : grammars_(std::move(grammars)) {}

  // As Grammars::compile.
  Result<Grammar> compile(const GrammarText& text);

 private:
  Grammars grammars_;
  std::list<std::pair<GrammarText, Grammar>> kept_;  // the one used last first; at most kGrammarsKept
};

}  // namespace slipstream
