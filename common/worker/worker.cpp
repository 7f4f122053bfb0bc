#include "common/worker/worker.h"

#include <algorithm>
#include <utility>

namespace slipstream {

Hello hello_of(Role role, const WorkerProcess& process, Fingerprint fingerprint) {
  Hello hello;
  hello.role = role;
  hello.incarnation = process.incarnation;
  hello.fingerprint = std::move(fingerprint);
  hello.metrics_endpoint = process.metrics_endpoint;
  hello.pid = process.pid;
  return hello;
}

WorkerCounters Worker::counters() const {
  return {.welcome = membership_.welcome(),
          .draining = draining_,
          .refusals = membership_.refusals(),
          .duplicate_routers = membership_.duplicates()};
}

void Worker::on(const Woke&, Time, WorkerEffects effects) {
  alarm_.reset();  // it has rung: the driver has none now
  if (!std::exchange(connected_, true)) membership_.connect(effects);
}

void Worker::on(const PeerUp& up, Time now, WorkerEffects) { membership_.up(up.peer, now); }
void Worker::on(const PeerDown& down, Time, WorkerEffects effects) { membership_.down(down.peer, effects); }
void Worker::on(const RoutersNamed& routers, Time, WorkerEffects effects) { membership_.named(routers.endpoints, effects); }
void Worker::on(const From<Welcome>& from, Time now, WorkerEffects effects) { membership_.welcomed(from, now, effects); }
void Worker::on(const From<Refuse>& from, Time, WorkerEffects effects) { membership_.refused(from, effects); }
void Worker::on(const From<RouterHeartbeat>& from, Time now, WorkerEffects) { membership_.heard(from, now); }

void Worker::on(const From<Drain>& from, Time, WorkerEffects effects) {
  if (!std::exchange(draining_, true)) membership_.leave(from.message.reason, effects);
}

bool Worker::heartbeat_due(Time now) const {
  const auto next = membership_.next();
  return next && now >= *next;
}

void Worker::send_heartbeats(Time now, const WorkerLoad& load, WorkerEffects effects) {
  if (!heartbeat_due(now)) return;
  const WorkerHeartbeat heartbeat{.sequences = load.sequences,
                                  .waiting = load.waiting,
                                  .steps = load.steps,
                                  .busy = busy_.share(now),
                                  .drafter_gains = drafter_gains_};
  membership_.send_due(now, heartbeat, effects);
}

// An unchanged alarm is not set again: most events change nothing about it, and each effect is work
// for the driver.
void Worker::set_alarm(std::optional<Time> own, WorkerEffects effects) {
  std::optional<Time> next = membership_.next();
  if (own) next = std::min(next.value_or(*own), *own);
  if (next && next != alarm_) effects.add(WakeAt{*next});
  alarm_ = next;
}

}  // namespace slipstream
