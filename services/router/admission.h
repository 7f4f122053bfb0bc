// Decides which requests may wait for a verifier, in which order, and for how long. Pure.
#pragma once

#include <deque>
#include <optional>

#include "services/router/live_request.h"
#include "services/router/router_config.h"
#include "services/router/workers.h"

namespace slipstream {

class Admission {
 public:
  explicit Admission(const RouterConfig& config) : config_(config) {}

  // Refuses a request at once in three cases:
  //   1. prompt and max_tokens fit no verifier that is there (with none there: the model's own context);
  //   2. no drafter ever had the method that it asks for;
  //   3. the queue is full.
  std::optional<Failure> refuse(const Submit& submit, const Workers& workers) const;
  // The failure of a request that has waited too long: for any verifier that can take it, or for
  // one that has room. REQUIRES: it waits.
  std::optional<Failure> expire(const LiveRequest& request, const Workers& workers, Time now) const;

  void add(RequestId request) { queue_.push_back(request); }
  void add_front(RequestId request) { queue_.push_front(request); }  // it was admitted before, and has lost its verifier
  void remove(RequestId request) { std::erase(queue_, request); }
  const std::deque<RequestId>& queue() const { return queue_; }

 private:
  const RouterConfig& config_;
  std::deque<RequestId> queue_;
};

}  // namespace slipstream
