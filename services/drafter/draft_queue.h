// What the next draft job will do: what the method must learn, in order, and the asks, of which a
// sequence has one at most. At most one job is in flight; meanwhile this fills.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "services/drafter/draft_job.h"

namespace slipstream {

class DraftQueue {
 public:
  void begin(const DraftKey& key, const GenerationSpec& spec) { plan_.operations.push_back(DraftPlan::Begin{key, spec}); }
  void extend(const DraftKey& key, std::vector<TokenId> tokens);
  void end(const DraftKey& key) { plan_.operations.push_back(DraftPlan::End{key}); }

  void ask(const DraftAsk& ask, Tree answer) { asks_.insert_or_assign(ask.key, Ask{ask, std::move(answer)}); }
  bool withdraw(const DraftKey& key) { return asks_.erase(key) > 0; }  // false: nothing asked

  // Nothing to do, or a job runs: none. Earliest deadline first; those that are past it come last,
  // since they can be late only.
  std::optional<DraftPlan> start(Time now);
  void finished(DraftPlan buffers);  // they serve again

 private:
  struct Ask {
    DraftAsk ask;
    Tree answer;  // without nodes
  };
  DraftPlan plan_;                // without asks
  std::map<DraftKey, Ask> asks_;  // ordered, so that equal events give equal jobs
  bool computing_ = false;
};

}  // namespace slipstream
