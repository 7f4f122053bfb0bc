// Compiles grammars for a verifier on a thread of their own: that may take a tenth of a second, and
// no sequence waits for it. On another one grammars follow their outputs whose masks are too much
// work for the loop and its steps. Tenants take turns.
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
  void operator()(FollowGrammar asked);

 private:
  std::optional<Grammars> grammars_;
  Tell tell_;
  std::unique_ptr<TaskThread> compiles_;  // null while no request had a grammar
  std::unique_ptr<TaskThread> follows_;   // null while no grammar was so much work
};

}  // namespace slipstream
