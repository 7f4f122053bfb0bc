#include "common/ops_page/loop_metrics.h"

namespace slipstream {

void add_loop_metrics(const LoopCounters& counters, const Standstill& still, Exposition& page) {
  using namespace metric;
  const auto d = [](uint64_t count) { return static_cast<double>(count); };
  const TransportCounters& transport = counters.transport;
  page.gauge(kNodeStandstill, std::chrono::duration<double>(still.loop).count(), {{"of", "loop"}});
  page.gauge(kNodeStandstill, std::chrono::duration<double>(still.job).count(), {{"of", "job"}});
  page.counter(kNodeEvents, d(counters.events));
  page.counter(kNodeFrames, d(transport.sent), {{"direction", "sent"}});
  page.counter(kNodeFrames, d(transport.received), {{"direction", "received"}});
  page.counter(kNodeBytes, d(transport.sent_bytes), {{"direction", "sent"}});
  page.counter(kNodeBytes, d(transport.received_bytes), {{"direction", "received"}});
  page.counter(kNodeDropped, d(transport.dropped_full), {{"why", "peer_full"}});
  page.counter(kNodeDropped, d(transport.dropped_gone), {{"why", "peer_gone"}});
  page.counter(kNodeDropped, d(transport.malformed), {{"why", "envelope"}});
  page.counter(kNodeDropped, d(counters.undecodable), {{"why", "undecodable"}});
  page.counter(kNodeDropped, d(counters.misdirected), {{"why", "misdirected"}});
  page.counter(kNodeDropped, d(counters.inbox_full), {{"why", "inbox_full"}});
  page.gauge(kNodeConnections, d(transport.connections));
  page.counter(kNodeConnectionsCut, d(transport.cut_held), {{"why", "held"}});
  page.counter(kNodeConnectionsCut, d(transport.cut_speechless), {{"why", "speechless"}});
  page.counter(kNodeConnectionsCut, d(transport.cut_too_many), {{"why", "too_many"}});
  page.counter(kNodeConnectionsCut, d(transport.cut_frames), {{"why", "frames"}});
  page.counter(kNodeConnectionsCut, d(transport.cut_revoked), {{"why", "revoked"}});
  page.counter(kNodeHandshakesFailed, d(transport.refused_keys), {{"why", "key"}});
  page.counter(kNodeHandshakesFailed, d(transport.refused_protocol), {{"why", "protocol"}});
  page.counter(kNodeHandshakesFailed, d(transport.refused_unfinished), {{"why", "unfinished"}});
}

}  // namespace slipstream
