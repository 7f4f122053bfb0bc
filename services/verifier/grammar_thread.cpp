#include "services/verifier/grammar_thread.h"

#include <tuple>
#include <utility>

#include "common/base/limits.h"

namespace slipstream {

// A grammar that finds no room is compiled by another verifier: the router gives this one up for
// the request when it does not answer.
void GrammarThread::operator()(CompileGrammar asked) {
  if (thread_ == nullptr) thread_ = std::make_unique<TaskThread>(kInboxEventsMax);
  const TenantId tenant = asked.tenant;
  std::ignore = thread_->post(
      [grammars = *grammars_, tell = tell_, text = std::move(asked.text)] {
        using Compiled = Result<std::shared_ptr<const Grammar>>;
        auto made = grammars.compile(text);
        tell(GrammarCompiled{text, made ? Compiled(std::make_shared<const Grammar>(*std::move(made)))
                                        : Compiled(std::unexpected(std::move(made.error())))});
      },
      tenant);
}

}  // namespace slipstream
