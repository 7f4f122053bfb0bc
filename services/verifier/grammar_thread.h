// Compiles grammars for a verifier on a thread of their own: that may take a tenth of a second, and
// no sequence waits for it. Tenants take turns.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "common/grammar/grammar.h"
#include "common/runtime/task_thread.h"
#include "services/verifier/events.h"

namespace slipstream {

class GrammarThread {
 public:
  // tell: gives the result to the verifier's actor; called on the thread.
  using Tell = std::function<bool(VerifierEvent)>;
  GrammarThread(std::optional<Grammars> grammars, Tell tell) : grammars_(std::move(grammars)), tell_(std::move(tell)) {}

  // REQUIRES: there are grammars.
  void operator()(CompileGrammar asked);

 private:
  std::optional<Grammars> grammars_;
  Tell tell_;
  std::unique_ptr<TaskThread> thread_;  // null while no request had a grammar
};

}  // namespace slipstream
