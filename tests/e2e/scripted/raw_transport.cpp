#include "tests/e2e/scripted/raw_transport.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <utility>

#include "common/base/check.h"
#include "common/zmq/envelope.h"

namespace slipstream {
namespace {

wire::Bytes bytes_of(std::span<const std::byte> bytes) { return {bytes.begin(), bytes.end()}; }

// All frames of the next message; none: nothing there.
Parcel receive(zmq::Socket& socket) {
  Parcel parcel;
  for (bool more = true; more;) {
    zmq::Message message;
    if (!socket.receive(message)) return parcel;
    parcel.push_back(bytes_of(message.bytes()));
    more = message.more();
  }
  return parcel;
}

void send_all(zmq::Socket& socket, const Parcel& parcel, TransportCounters& counters) {
  for (size_t i = 0; i < parcel.size(); ++i) {
    const int flags = ZMQ_DONTWAIT | (i + 1 < parcel.size() ? ZMQ_SNDMORE : 0);
    if (zmq_send(socket.get(), parcel[i].data(), parcel[i].size(), flags) < 0) return void(++counters.dropped_full);
  }
  ++counters.sent;
}

}  // namespace

Result<std::unique_ptr<RawTransport>> RawTransport::open(Incarnation self, const std::string& bind) {
  std::unique_ptr<RawTransport> transport(new RawTransport(self));
  TRY_VOID(transport->router_.bind(bind));
  return transport;
}

RawTransport::RawTransport(Incarnation self)
    : self_(self), wakeup_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)), router_(context_, ZMQ_ROUTER) {
  CHECK(wakeup_ >= 0, "no file descriptor: raise the limit of open files");
  router_.set(ZMQ_LINGER, 0);
}

RawTransport::~RawTransport() { ::close(wakeup_); }

void RawTransport::connect(Peer peer, const std::string& endpoint) {
  zmq::Socket socket(context_, ZMQ_DEALER);
  socket.set(ZMQ_LINGER, 0);
  const Result<void> connected = socket.connect(endpoint);
  CHECK(connected, "{}", connected.error().message);
  links_.insert_or_assign(peer, std::move(socket));
  events_.emplace_back(PeerUp{peer});
}

void RawTransport::send(Peer peer, Frame frame) {
  const auto envelope = pack({frame.boundary, self_});
  const Parcel parcel{bytes_of(envelope), std::move(frame.bytes)};
  if (const auto link = links_.find(peer); link != links_.end()) return send_all(link->second, parcel, counters_);
  send_parcel(peer, parcel);
}

void RawTransport::send_parcel(Peer incoming, const Parcel& parcel) {
  const auto connection = connections_.find(incoming);
  if (connection == connections_.end()) return void(++counters_.dropped_gone);
  Parcel addressed{bytes_of(std::as_bytes(std::span(connection->second)))};
  addressed.insert(addressed.end(), parcel.begin(), parcel.end());
  send_all(router_, addressed, counters_);
}

std::optional<TransportEvent> RawTransport::next(std::chrono::microseconds wait) {
  receive_all();
  if (events_.empty() && wait.count() > 0) {
    wait_for_frames(wait);
    receive_all();
  }
  if (events_.empty()) return std::nullopt;
  TransportEvent event = std::move(events_.front());
  events_.pop_front();
  return event;
}

void RawTransport::wait_for_frames(std::chrono::microseconds wait) {
  std::vector<zmq_pollitem_t> items{{nullptr, wakeup_, ZMQ_POLLIN, 0}, {router_.get(), 0, ZMQ_POLLIN, 0}};
  for (const auto& [peer, link] : links_) items.push_back({link.get(), 0, ZMQ_POLLIN, 0});
  const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(wait).count();
  zmq_poll(items.data(), static_cast<int>(items.size()), static_cast<long>(milliseconds));
  uint64_t count = 0;
  [[maybe_unused]] const auto size = ::read(wakeup_, &count, sizeof count);  // non-blocking; nothing there is fine
}

void RawTransport::receive_all() {
  for (auto& [peer, link] : links_) {
    for (Parcel parcel = receive(link); !parcel.empty(); parcel = receive(link)) {
      if (parcel.size() == 2) take(peer, parcel[0], std::move(parcel[1]));
    }
  }
  for (Parcel parcel = receive(router_); !parcel.empty(); parcel = receive(router_)) {
    if (parcel.size() != 3) continue;
    const auto envelope = unpack(parcel[1]);
    if (!envelope) continue;
    const Peer peer = incoming_peer(envelope->sender);
    const auto text = std::string(reinterpret_cast<const char*>(parcel[0].data()), parcel[0].size());
    if (connections_.insert_or_assign(peer, text).second) events_.emplace_back(PeerUp{peer});
    take(peer, parcel[1], std::move(parcel[2]));
  }
}

void RawTransport::take(Peer peer, const wire::Bytes& head, wire::Bytes payload) {
  const auto envelope = unpack(head);
  if (!envelope) return;
  ++counters_.received;
  events_.emplace_back(FrameFrom{peer, Frame{envelope->boundary, std::move(payload)}});
}

void RawTransport::wake() {
  const uint64_t one = 1;
  [[maybe_unused]] const auto size = ::write(wakeup_, &one, sizeof one);  // full: it will wake anyway
}

void RawTransport::close(std::chrono::milliseconds linger) {
  for (auto& [peer, link] : links_) link.set(ZMQ_LINGER, static_cast<int>(linger.count()));
  router_.set(ZMQ_LINGER, static_cast<int>(linger.count()));
  links_.clear();
  router_.close();
}

}  // namespace slipstream
