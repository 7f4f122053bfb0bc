// Which requests may wait for a verifier, in which order, and for how long.
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

  // Refusals at the door: the queue is full, prompt and max_tokens do not fit any verifier that is
  // there (with none there, the model's own context), or nobody ever drafted by the method that is
  // asked for.
  std::optional<Failure> refuse(const Submit& submit, const Workers& workers) const;
  // A waiting request that must not wait longer, or that no verifier there can ever take.
  std::optional<Failure> expire(const LiveRequest& request, const Workers& workers, Time now) const;

  void add(RequestId request) { queue_.push_back(request); }
  void add_front(RequestId request) { queue_.push_front(request); }  // it lost its verifier; it was admitted long ago
  void remove(RequestId request) { std::erase(queue_, request); }
  const std::deque<RequestId>& queue() const { return queue_; }

 private:
  const RouterConfig& config_;
  std::deque<RequestId> queue_;
};

}  // namespace slipstream
