// Decides which requests may wait for a verifier, in which order, and for how long. Pure.
#pragma once

#include <optional>

#include "services/router/live_request.h"
#include "services/router/prefill_forecast.h"
#include "services/router/router_config.h"
#include "services/router/wait_forecast.h"
#include "services/router/waiting_queue.h"
#include "services/router/workers.h"

namespace slipstream {

class Admission {
 public:
  explicit Admission(const RouterConfig& config) : config_(config) {}

  // Refuses a request at once in four cases:
  //   1. prompt and max_tokens fit no verifier that is there (with none there: the model's own context);
  //   2. no drafter ever had the method that it asks for;
  //   3. the queue is full;
  //   4. it would wait for longer than queue_wait_ms: for room, behind those that go before it, and
  //      for the prompts that verifiers prefill before its own.
  // The last two refuse no request whose answer has begun with another choice.
  std::optional<Failure> refuse(const Submit& submit, const Workers& workers) const;
  // The failure of a request that has waited too long: for any verifier that can take it, or for
  // one that has room. REQUIRES: it waits.
  std::optional<Failure> expire(const LiveRequest& request, const Workers& workers, Time now) const;

  void observe(const Workers& workers, Time now);  // after every event
  void freed() { forecast_.freed(); }              // a request has left its verifier, and will not go to another
  void begin_prefill(int32_t tokens);              // a verifier gets a request with so many
  // done: its first token came; else it has left its verifier. tokens: as it began, 0: it did not.
  void end_prefill(int32_t tokens, bool done);
  // Of a request without a key and at priority 0 that comes now; nullopt: no verifier is there.
  std::optional<Time> expected_wait() const { return expected_wait(queue_.ahead_of(0, kNoTenant)); }

  void add(const Submit& submit) { queue_.add(submit.request, submit.priority, submit.spec.tenant); }
  void add_front(RequestId request) { queue_.add_front(request); }  // it was admitted before, and has lost its verifier
  void serve(RequestId request) { queue_.serve(request); }
  void remove(RequestId request) { queue_.remove(request); }
  const WaitingQueue& queue() const { return queue_; }

 private:
  std::optional<Time> expected_wait(size_t ahead) const;
  std::optional<Failure> refuse_wait(const Submit& submit) const;
  int retry_after_s(size_t ahead) const;  // until those have started, as far as can be said
  uint32_t wait_most_ms(const LiveRequest& request) const;

  const RouterConfig& config_;
  WaitingQueue queue_;
  WaitForecast forecast_;
  Awaited awaited_;
  PrefillForecast prefill_;
};

}  // namespace slipstream
