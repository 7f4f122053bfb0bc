#include "services/verifier/grammar_thread.h"

#include <tuple>
#include <utility>

#include "common/base/limits.h"

namespace slipstream {

// A grammar that finds no room is compiled by another verifier: the router gives this one up for
// the request when it does not answer.
void GrammarThread::operator()(CompileGrammar asked) {
  if (compiles_ == nullptr) compiles_ = std::make_unique<TaskThread>(kInboxEventsMax);
  const TenantId tenant = asked.tenant;
  std::ignore =
      compiles_->post([grammars = *grammars_, tell = tell_,
                       text = std::move(asked.text)] { tell(GrammarCompiled{text, GrammarCache::compiled(grammars, text)}); },
                      tenant);
}

// What a sequence asked that has ended meanwhile is nobody's any more.
void GrammarThread::operator()(FollowGrammar asked) {
  if (follows_ == nullptr) follows_ = std::make_unique<TaskThread>(kInboxEventsMax);
  const uint64_t sequence = asked.sequence;
  const TenantId tenant = asked.tenant;
  const bool posted = follows_->post(
      [tell = tell_, asked = std::move(asked)]() mutable {
        if (asked.guide.shared()) tell(GrammarFollowed{asked.sequence, asked.guide.follow(asked.tokens)});
      },
      tenant);
  if (!posted) tell_(GrammarFollowed{sequence, fail("too many grammars wait for it here")});
}

}  // namespace slipstream
