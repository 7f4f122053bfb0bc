// The requests that wait for a verifier, in the order in which they are served:
//
//   1. those that lost their verifier: they were admitted, and perhaps begun, before all others;
//   2. the lowest priority number first;
//   3. at equal priority, tenants in turns: each request has a round, and lower rounds go first;
//   4. in a round, in the order of arrival.
//
// The round of a request is one more than that of its tenant's last waiting request of the same
// priority, or than the round that is served now, whichever is later. So a tenant that sends many
// requests takes one turn in each round, whatever it sends, and one that comes anew waits for at
// most one request of each other tenant. Pure. A call takes time linear in the queue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>

#include "common/base/ids.h"
#include "services/router/request.h"

namespace slipstream {

class WaitingQueue {
 public:
  void add(RequestId request, int32_t priority, TenantId tenant);
  void add_front(RequestId request);  // it has lost its verifier
  void remove(RequestId request);     // it ends without a verifier, or is not in the queue
  void serve(RequestId request);      // it gets a verifier: its round is served now
  // How many requests would be served before a new one of that priority and tenant.
  size_t ahead_of(int32_t priority, TenantId tenant) const;

  RequestId operator[](size_t place) const { return waiting_[place].request; }  // place: 0 is served first
  size_t size() const { return waiting_.size(); }

 private:
  struct Waiter {
    RequestId request = 0;
    bool lost_verifier = false;
    int32_t priority = 0;
    TenantId tenant = kNoTenant;
    uint64_t round = 0;
  };
  using Waiters = std::deque<Waiter>;

  Waiter next_of(int32_t priority, TenantId tenant) const;  // a new one, with its round
  Waiters::const_iterator place_of(const Waiter& waiter) const;
  void forget_rounds(int32_t priority);

  Waiters waiting_;                    // in the order of service
  std::map<int32_t, uint64_t> round_;  // by priority: the round that is served now; none: nothing waits there
};

}  // namespace slipstream
