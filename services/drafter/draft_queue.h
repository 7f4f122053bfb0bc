// Collects the next draft job while the current one runs. At most one job is in flight. Pure.
//
//   begin, learn, extend, end    operations, which the method performs in this order
//   ask, withdraw                requests for a tree; a sequence has at most one, so a newer one replaces it
//   start, finished              take the job when none runs; give its buffers back when it has ended
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
  void learn(const DraftKey& key, std::vector<TokenId> verdicts);
  void extend(const DraftKey& key, std::vector<TokenId> tokens, std::vector<uint16_t> features);
  void end(const DraftKey& key) { plan_.operations.push_back(DraftPlan::End{key}); }

  void ask(const DraftAsk& ask, Tree answer) { asks_.insert_or_assign(ask.key, Ask{ask, std::move(answer)}); }
  bool withdraw(const DraftKey& key) { return asks_.erase(key) > 0; }  // false: there was no ask

  // Returns the job and begins to collect the next one. Returns nullopt if a job runs or there is
  // nothing to do. Asks are ordered by deadline, the earliest first. Those whose deadline has
  // passed come last: their trees will be late anyway, and should not make others late.
  std::optional<DraftPlan> start(Time now);
  void finished(DraftPlan buffers);  // the job has ended; its buffers are reused

 private:
  struct Ask {
    DraftAsk ask;
    Tree answer;  // its fence
  };
  DraftPlan plan_;                // operations only: start() fills in the asks
  std::map<DraftKey, Ask> asks_;  // ordered by key, so that equal events give equal jobs
  bool computing_ = false;
};

}  // namespace slipstream
