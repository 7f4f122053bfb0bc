// Keeps the grammars that were compiled last: requests of one application mostly share one. Those
// that somebody still holds are found, too, however long ago that was: the choices of a request
// always share one. Keeps the last refusals as well: to find one anew takes up to a second.
// Thread-safe; no thread waits while another compiles.
#pragma once

#include <cstddef>
#include <expected>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "common/grammar/grammar.h"

namespace slipstream {

inline constexpr size_t kGrammarsKept = 8;
inline constexpr size_t kRefusalsKept = 64;
inline constexpr size_t kRefusalBytesKept = 1024 * 1024;  // of their texts and reasons

class GrammarCache {
 public:
  using Kept = std::shared_ptr<const Grammar>;  // at its beginning
  using Compiled = std::expected<Kept, GrammarError>;
  explicit GrammarCache(Grammars grammars) : grammars_(std::move(grammars)) {}

  // As grammars.compile(); no cache is asked.
  static Compiled compiled(const Grammars& grammars, const GrammarText& text);

  std::optional<Compiled> find(const GrammarText& text);  // nullopt: it is not here
  // Keeps no error that does not last.
  void keep(const GrammarText& text, const Compiled& compiled);

  // As Grammars::compile(), if it is not here.
  Compiled compile(const GrammarText& text);
  // The error of compile(); nullopt: it can be followed. Keeps no grammar.
  std::optional<GrammarError> why_not(const GrammarText& text);

 private:
  struct Entry {
    GrammarText text;
    std::weak_ptr<const Grammar> grammar;
    Kept kept;  // of the first kGrammarsKept entries
  };
  struct Refusal {
    GrammarText text;
    GrammarError error;
  };
  void use(std::list<Entry>::iterator at);  // it becomes the first
  void keep_refusal(const GrammarText& text, const GrammarError& error);

  const Grammars grammars_;
  std::mutex mutex_;             // guards what follows
  std::list<Entry> entries_;     // the one used last first
  std::list<Refusal> refusals_;  // the same
  size_t refusal_bytes_ = 0;     // of those
};

}  // namespace slipstream
