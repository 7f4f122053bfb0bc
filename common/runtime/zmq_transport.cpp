#include "common/runtime/zmq_transport.h"

#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <map>
#include <vector>

#include "common/base/check.h"
#include "common/runtime/connection_guard.h"
#include "common/runtime/endpoint.h"
#include "common/runtime/envelope.h"
#include "common/runtime/file_descriptor.h"
#include "common/runtime/incoming_peers.h"
#include "common/runtime/zmq_socket.h"

namespace slipstream {
namespace {

// A process that dies is seen at once, by the end of its connection; one that hangs is the actors' business (heartbeats of
// their own, leases, deadlines). A machine or a network that went silent is found by the kernel. Not by ZMQ_HEARTBEAT_IVL:
// libzmq 4.3.4 aborts ("!_io_error" in stream_engine_base.cpp) when its heartbeat meets a connection that ended while our queue
// was full.
constexpr int kKeepAliveIdleSeconds = 3, kKeepAliveIntervalSeconds = 1, kKeepAliveProbes = 3;
constexpr int kUnackedMaxMs = 6000;
constexpr int kHandshakeMs = 2000;
constexpr int kBacklog =
    1024;  // connections at the door; the kernel drops what comes then, and it is tried again a second later
constexpr int kReconnectMs = 20;
constexpr int kReconnectMaxMs = 2000;
constexpr int kDisconnectLingerMs = 100;  // what was said just before a disconnect() may still leave
constexpr int kFramesPerLookMax = 64;     // of one socket, before the others are read
constexpr std::string_view kHeldTooMuch = "more than can be read, or a message without an end";

zmq::Socket make_socket(const zmq::Context& context, int type) {
  zmq::Socket socket(context, type);
  socket.set(ZMQ_SNDHWM, kSocketHighWaterMessages);
  socket.set(ZMQ_RCVHWM, kSocketHighWaterMessages);
  socket.set(ZMQ_LINGER, 0);
  socket.set(ZMQ_MAXMSGSIZE, static_cast<int64_t>(kControlFrameBytesMax));
  socket.set(ZMQ_TCP_KEEPALIVE, 1);
  socket.set(ZMQ_TCP_KEEPALIVE_IDLE, kKeepAliveIdleSeconds);
  socket.set(ZMQ_TCP_KEEPALIVE_INTVL, kKeepAliveIntervalSeconds);
  socket.set(ZMQ_TCP_KEEPALIVE_CNT, kKeepAliveProbes);
  socket.set(ZMQ_TCP_MAXRT, kUnackedMaxMs);
  socket.set(ZMQ_HANDSHAKE_IVL, kHandshakeMs);
  socket.set(ZMQ_BACKLOG, kBacklog);
  return socket;
}

// One peer that we connect to.
struct Link {
  zmq::Socket monitor, socket;  // in this order: the socket ends first (zmq_socket.cpp says why)
  ConnectionGuard guard;
  bool up = false;
  bool ended = false;  // the connection ended; told when all that came before has been read
};

}  // namespace

struct ZmqTransport::State {
  explicit State(Incarnation incarnation) : self(incarnation) {}

  void build_items();
  bool look(std::chrono::microseconds wait);
  void read_router();
  bool read_router_frames();
  bool read_router_monitor();
  void take_router_frame(zmq::Message& id);
  void read_link(Peer peer, Link& link);
  bool read_link_frames(Peer peer, Link& link);
  void read_link_monitor(Peer peer, Link& link);
  void take_link_frame(Peer peer, Link& link, zmq::Message& head);
  bool take_payload(zmq::Socket& socket, ConnectionGuard& guard, zmq::Message& head, zmq::Message& payload);
  bool guards() const;
  void malformed(std::optional<Peer> peer, std::string why);
  void deliver(Peer peer, Boundary boundary, std::span<const std::byte> payload);

  const Incarnation self;
  zmq::Context context;  // before the sockets: it ends after them
  FileDescriptor wakeup{eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
  FileDescriptor timer{timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)};
  zmq::Socket router_monitor, router;  // in this order, as in Link
  TransportCounters counters;
  ConnectionGuard guard{ConnectionWatch::Side::bound, counters};
  IncomingPeers incoming;
  std::map<Peer, Link> links;
  std::vector<zmq_pollitem_t> items;
  bool unread = false;                // a socket may hold more than one look took, or an end that comes behind it
  std::vector<TransportEvent> fresh;  // filled by one look
  std::deque<TransportEvent> events;  // to be given
};

Result<std::unique_ptr<ZmqTransport>> ZmqTransport::open(const ZmqOptions& options) {
  CHECK(options.self != 0 && options.self >> 63 == 0, "an incarnation is in [1, 2^63)");
  auto state = std::make_unique<State>(options.self);
  if (options.bind) {
    TRY_VOID(check_bind_endpoint(*options.bind));
    state->router = make_socket(state->context, ZMQ_ROUTER);
    state->router.set(ZMQ_ROUTER_MANDATORY, 1);
    state->router_monitor = state->router.monitor(state->context, ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED);
    TRY_VOID(state->router.bind(*options.bind));
  }
  state->build_items();
  return std::unique_ptr<ZmqTransport>(new ZmqTransport(std::move(state)));
}

ZmqTransport::ZmqTransport(std::unique_ptr<State> state) : state_(std::move(state)) {}
ZmqTransport::~ZmqTransport() = default;

std::string ZmqTransport::bound_endpoint() const { return state_->router ? state_->router.last_endpoint() : ""; }

const TransportCounters& ZmqTransport::counters() const { return state_->counters; }

void ZmqTransport::connect(Peer peer, const std::string& endpoint) {
  CHECK((peer.id & kIncomingPeer) == 0, "peer {} is no name for a link of ours", peer.id);
  CHECK(!state_->links.contains(peer), "peer {} is connected already", peer.id);
  Link link{.socket = make_socket(state_->context, ZMQ_DEALER),
            .guard = ConnectionGuard(ConnectionWatch::Side::connecting, state_->counters)};
  // ZMQ_IMMEDIATE stays off: with it, a connection that ends while its messages are being read aborts the process (libzmq
  // 4.3.4, "!_more" in fq.cpp). So what was sent before an end is noticed may arrive after a reconnect (docs/WIRE.md).
  link.socket.set(ZMQ_RECONNECT_IVL, kReconnectMs);
  link.socket.set(ZMQ_RECONNECT_IVL_MAX, kReconnectMaxMs);
  link.monitor =
      link.socket.monitor(state_->context, ZMQ_EVENT_CONNECTED | ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_DISCONNECTED);
  Result<void> connected = check_connect_endpoint(endpoint);
  if (connected) connected = link.socket.connect(endpoint);
  if (!connected) {
    ++state_->counters.malformed;
    state_->events.emplace_back(Malformed{peer, std::move(connected.error().message)});
  }
  state_->links.emplace(peer, std::move(link));
  state_->build_items();
}

void ZmqTransport::disconnect(Peer peer) {
  if (const auto at = state_->links.find(peer); at != state_->links.end()) {
    at->second.socket.set(ZMQ_LINGER, kDisconnectLingerMs);
    state_->links.erase(at);
    state_->build_items();
  } else {
    state_->incoming.ignore(peer);
  }
  std::erase_if(state_->events,
                [&](const TransportEvent& event) { return std::visit([&](const auto& e) { return e.peer == peer; }, event); });
}

void ZmqTransport::send(Peer peer, Frame frame) {
  const auto envelope = pack({frame.boundary, state_->self});
  auto& counters = state_->counters;
  auto sent = zmq::Sent::nobody;
  if (const auto link = state_->links.find(peer); link != state_->links.end()) {
    if (link->second.up) sent = link->second.socket.send({envelope, frame.bytes});
  } else if (const auto* id = state_->incoming.connection_of(peer)) {
    sent = state_->router.send({std::as_bytes(std::span(*id)), envelope, frame.bytes});
    if (sent == zmq::Sent::nobody) {
      std::vector<TransportEvent> events;
      state_->incoming.lost(peer, events);
      state_->events.insert(state_->events.end(), events.begin(), events.end());
    }
  }
  switch (sent) {
    case zmq::Sent::yes:
      ++counters.sent;
      counters.sent_bytes += frame.bytes.size();
      break;
    case zmq::Sent::full:
      ++counters.dropped_full;
      break;
    case zmq::Sent::nobody:
      ++counters.dropped_gone;
      break;
  }
}

void ZmqTransport::wake() {
  const uint64_t one = 1;
  [[maybe_unused]] const auto size = ::write(state_->wakeup.get(), &one, sizeof one);  // full: it will wake anyway
}

std::optional<TransportEvent> ZmqTransport::next(std::chrono::microseconds wait) {
  auto& events = state_->events;
  const auto end = std::chrono::steady_clock::now() + wait;
  while (events.empty()) {
    if (state_->look(wait) || wait.count() <= 0) break;  // woken, or out of time
    wait = std::chrono::duration_cast<std::chrono::microseconds>(end - std::chrono::steady_clock::now());
    wait = std::max(wait, std::chrono::microseconds(0));
  }
  if (events.empty()) return std::nullopt;
  TransportEvent event = std::move(events.front());
  events.pop_front();
  return event;
}

void ZmqTransport::close(std::chrono::milliseconds linger) {
  const auto linger_ms = static_cast<int>(linger.count());
  for (auto& [peer, link] : state_->links) link.socket.set(ZMQ_LINGER, linger_ms);
  if (state_->router) state_->router.set(ZMQ_LINGER, linger_ms);
  state_->links.clear();
  state_->router.close();
  state_->router_monitor.close();
  state_->build_items();
}

void ZmqTransport::State::build_items() {
  items.clear();
  items.push_back({nullptr, wakeup.get(), ZMQ_POLLIN, 0});
  items.push_back({nullptr, timer.get(), ZMQ_POLLIN, 0});
  const auto add = [&](const zmq::Socket& socket) {
    if (socket) items.push_back({socket.get(), 0, ZMQ_POLLIN, 0});
  };
  add(router);
  add(router_monitor);
  for (const auto& [peer, link] : links) {
    add(link.socket);
    add(link.monitor);
  }
}

// Waits for something (a timer of its own: zmq_poll counts in milliseconds), then reads what is there. True: it was to wait,
// and somebody called wake().
bool ZmqTransport::State::look(std::chrono::microseconds wait) {
  if (guards()) wait = std::min(wait, ConnectionWatch::kPeriod);
  if (std::exchange(unread, false)) wait = std::chrono::microseconds(0);
  if (wait.count() > 0) {
    const itimerspec spec{.it_value = {.tv_sec = wait.count() / 1'000'000, .tv_nsec = wait.count() % 1'000'000 * 1000}};
    timerfd_settime(timer.get(), 0, &spec, nullptr);
  }
  if (zmq_poll(items.data(), static_cast<int>(items.size()), wait.count() > 0 ? -1 : 0) < 0) {
    CHECK(zmq_errno() == EINTR, "polling failed: {}", zmq::last_error());
    return false;
  }
  const bool woken = wait.count() > 0 && items[0].revents != 0;
  if (woken) wakeup.clear();
  if (items[1].revents != 0) timer.clear();
  if (router) read_router();
  for (auto& [peer, link] : links) read_link(peer, link);
  events.insert(events.end(), std::make_move_iterator(fresh.begin()), std::make_move_iterator(fresh.end()));
  fresh.clear();
  return woken;
}

bool ZmqTransport::State::guards() const {
  return guard.open() > 0 || std::ranges::any_of(links, [](const auto& link) { return link.second.guard.open() > 0; });
}

void ZmqTransport::State::malformed(std::optional<Peer> peer, std::string why) {
  ++counters.malformed;
  if (peer) fresh.emplace_back(Malformed{*peer, std::move(why)});
}

void ZmqTransport::State::deliver(Peer peer, Boundary boundary, std::span<const std::byte> payload) {
  ++counters.received;
  counters.received_bytes += payload.size();
  fresh.emplace_back(FrameFrom{peer, Frame{boundary, {payload.begin(), payload.end()}}});
}

// The frames of a message after its first. False: it has not two.
bool ZmqTransport::State::take_payload(zmq::Socket& socket, ConnectionGuard& of, zmq::Message& head, zmq::Message& payload) {
  const int fd = head.connection_fd();
  bool two = false;
  size_t bytes = wire_bytes_of(head.bytes().size());
  for (int frames = 2; (frames == 2 ? head : payload).more() && socket.receive(payload); ++frames) {
    two = frames == 2;
    bytes += wire_bytes_of(payload.bytes().size());
    if (frames > kFramesPerMessageMax) of.cut_for_frames(fd);
  }
  of.delivered(fd, bytes);
  return two;
}

// Monitor first, frames next, ends last: so that a farewell is heard before the end of the connection that brought it.
void ZmqTransport::State::read_router() {
  read_router_monitor();
  guard.before_reading();
  unread |= !read_router_frames();
  for (const int fd : guard.after_reading()) {
    if (const auto peer = incoming.peer_at(fd)) fresh.emplace_back(Malformed{*peer, std::string(kHeldTooMuch)});
  }
  counters.connections = guard.open();
}

// False: there may be more.
bool ZmqTransport::State::read_router_frames() {
  for (int n = 0; n < kFramesPerLookMax; ++n) {
    zmq::Message id;
    if (!router.receive(id)) {
      guard.emptied();
      incoming.settle(fresh);
      return true;
    }
    take_router_frame(id);
  }
  return false;
}

bool ZmqTransport::State::read_router_monitor() {
  bool any = false;
  for (auto event = zmq::next_event(router_monitor); event.event != 0; event = zmq::next_event(router_monitor), any = true) {
    if (event.event == ZMQ_EVENT_ACCEPTED) {
      incoming.accepted(event.value, fresh);
      guard.opened(event.value);
    }
    if (event.event == ZMQ_EVENT_DISCONNECTED) {
      incoming.disconnected(event.value);
      guard.closed(event.value);
    }
  }
  return any;
}

void ZmqTransport::State::take_router_frame(zmq::Message& id) {
  const ConnectionId connection = id.text();
  zmq::Message head, payload;
  if (!id.more() || !router.receive(head)) return malformed(incoming.peer_of(connection), "a message without an envelope");
  const int fd = head.connection_fd();
  const auto envelope = unpack(head.bytes());
  const bool two = take_payload(router, guard, head, payload);
  if (!envelope) return malformed(incoming.peer_of(connection), envelope.error().message);
  if (!incoming.knows(connection)) read_router_monitor();  // whose end an end is can be told only in this order
  const auto peer = incoming.sender(connection, fd, envelope->sender, fresh);
  if (!peer) {
    const auto named = incoming.peer_of(connection);
    if (named) malformed(named, "a connection that changed its incarnation");
    return;
  }
  guard.heard(fd);
  if (!two) return malformed(peer, "a message that has not two frames");
  if (payload.bytes().size() > frame_bytes_max(envelope->boundary)) {
    return malformed(
        peer, fmt::format("a frame of {} bytes, the limit is {}", payload.bytes().size(), frame_bytes_max(envelope->boundary)));
  }
  deliver(*peer, envelope->boundary, payload.bytes());
}

// In the same order.
void ZmqTransport::State::read_link(Peer peer, Link& link) {
  read_link_monitor(peer, link);
  link.guard.before_reading();
  unread |= !read_link_frames(peer, link);
  if (!link.guard.after_reading().empty()) fresh.emplace_back(Malformed{peer, std::string(kHeldTooMuch)});
}

bool ZmqTransport::State::read_link_frames(Peer peer, Link& link) {
  for (int n = 0; n < kFramesPerLookMax; ++n) {
    zmq::Message head;
    if (!link.socket.receive(head)) {
      link.guard.emptied();
      if (std::exchange(link.ended, false) && std::exchange(link.up, false)) fresh.emplace_back(PeerDown{peer});
      return true;
    }
    take_link_frame(peer, link, head);
  }
  return false;
}

void ZmqTransport::State::read_link_monitor(Peer peer, Link& link) {
  for (auto event = zmq::next_event(link.monitor); event.event != 0; event = zmq::next_event(link.monitor)) {
    if (event.event == ZMQ_EVENT_CONNECTED) link.guard.opened(event.value);
    if (event.event == ZMQ_EVENT_DISCONNECTED) {
      link.guard.closed(event.value);
      link.ended = link.up;
    }
    if (event.event == ZMQ_EVENT_HANDSHAKE_SUCCEEDED) {
      if (std::exchange(link.ended, false)) fresh.emplace_back(PeerDown{peer});
      link.up = true;
      fresh.emplace_back(PeerUp{peer});
    }
  }
}

void ZmqTransport::State::take_link_frame(Peer peer, Link& link, zmq::Message& head) {
  zmq::Message payload;
  const auto envelope = unpack(head.bytes());
  const bool two = take_payload(link.socket, link.guard, head, payload);
  if (!link.up) read_link_monitor(peer, link);
  if (!link.up) return void(++counters.dropped_gone);  // of a connection whose end has been told
  if (!envelope) return malformed(peer, envelope.error().message);
  if (!two) return malformed(peer, "a message that has not two frames");
  if (payload.bytes().size() > frame_bytes_max(envelope->boundary)) {
    return malformed(
        peer, fmt::format("a frame of {} bytes, the limit is {}", payload.bytes().size(), frame_bytes_max(envelope->boundary)));
  }
  deliver(peer, envelope->boundary, payload.bytes());
}

}  // namespace slipstream
