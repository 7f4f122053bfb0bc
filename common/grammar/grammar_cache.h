// Keeps the grammars that were compiled last: requests of one application mostly share one. Those
// that somebody still holds are found, too, however long ago that was: the choices of a request
// always share one. Not thread-safe.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <utility>

#include "common/grammar/grammar.h"

namespace slipstream {

inline constexpr size_t kGrammarsKept = 8;

class GrammarCache {
 public:
  using Kept = std::shared_ptr<const Grammar>;  // at its beginning
  explicit GrammarCache(Grammars grammars) : grammars_(std::move(grammars)) {}

  Kept find(const GrammarText& text);  // null: it is not here
  void keep(const GrammarText& text, Kept grammar);

  // As Grammars::compile, if it is not here.
  Result<Kept> compile(const GrammarText& text);

 private:
  struct Entry {
    GrammarText text;
    std::weak_ptr<const Grammar> grammar;
    Kept kept;  // of the first kGrammarsKept entries
  };
  void use(std::list<Entry>::iterator at);  // it becomes the first

  Grammars grammars_;
  std::list<Entry> entries_;  // the one used last first
};

}  // namespace slipstream
