#include "common/zmq/zmq_transport.h"

#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <map>
#include <vector>

#include "common/base/check.h"
#include "common/zmq/allowed_endpoint.h"
#include "common/zmq/connection_guard.h"
#include "common/zmq/envelope.h"
#include "common/zmq/file_descriptor.h"
#include "common/zmq/handshake_faults.h"
#include "common/zmq/incoming_peers.h"
#include "common/zmq/zap_authenticator.h"
#include "common/zmq/zmq_link.h"
#include "common/zmq/zmq_settings.h"
#include "common/zmq/zmq_socket.h"

namespace slipstream {
namespace {

constexpr int kDisconnectLingerMs = 100;  // for messages sent just before a disconnect() to leave
// What one look reads from one socket at most, so that no peer starves the others or fills memory.
constexpr int kMessagesPerLookMax = 64;
constexpr size_t kFramesPerLookMax = 4096;
constexpr size_t kBytesPerLookMax = 4 * 1024 * 1024;
constexpr std::string_view kHeldTooMuch = "more than can be read, or a message without an end";
constexpr int kRouterEvents = ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH |
                              ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL;

struct LookLeft {
  int messages = kMessagesPerLookMax;
  size_t frames = kFramesPerLookMax, bytes = kBytesPerLookMax;
  bool any() const { return messages > 0 && frames > 0 && bytes > 0; }
  void take(size_t more_frames, size_t more_bytes) {
    frames -= std::min(frames, more_frames);
    bytes -= std::min(bytes, more_bytes);
  }
};

}  // namespace

struct ZmqTransport::State {
  State(Incarnation incarnation, std::optional<Keys> given) : self(incarnation), keys(std::move(given)) {}

  void build_items();
  bool look(std::chrono::microseconds wait);
  void read_router();
  bool read_router_frames();
  bool read_router_monitor();
  void take_router_frame(zmq::Message& id);
  void read_link(Peer peer, Link& link);
  bool read_link_frames(Peer peer, Link& link);
  void read_link_monitor(Peer peer, Link& link);
  void look_at_keys();
  void take_link_frame(Peer peer, Link& link, zmq::Message& head);
  bool take_payload(zmq::Socket& socket, ConnectionGuard& guard, zmq::Message& head, zmq::Message& payload);
  bool guards() const;
  std::chrono::microseconds until_next_try() const;  // of any link; max: none is planned
  void malformed(std::optional<Peer> peer, std::string why);
  void deliver(Peer peer, Boundary boundary, std::span<const std::byte> payload);

  const Incarnation self;
  std::optional<Keys> keys;
  zmq::Context context;  // before the sockets, so that it is destroyed after them
  std::optional<ZapAuthenticator> door;
  FileDescriptor wakeup{eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
  FileDescriptor timer{timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)};
  zmq::Socket router_monitor, router;  // in this order, as in Link
  TransportCounters counters;
  ConnectionGuard guard{ConnectionWatch::Side::bound, counters};
  std::map<int, std::string> users;  // by file descriptor: the public key that the peer proved to have
  HandshakeFaults handshakes{keys, counters};
  IncomingPeers incoming;
  std::map<Peer, Link> links;
  std::vector<zmq_pollitem_t> items;
  LookLeft look_left;                 // for the socket that is being read
  bool unread = false;                // a socket was not read until it was empty: look again without waiting
  std::vector<TransportEvent> fresh;  // found by the look under way
  std::deque<TransportEvent> events;  // for next() to return
};

Result<std::unique_ptr<ZmqTransport>> ZmqTransport::open(const ZmqOptions& options) {
  CHECK(options.self != 0 && options.self >> 63 == 0, "an incarnation is in [1, 2^63)");
  auto state = std::make_unique<State>(options.self, options.keys);
  if (options.bind) {
    TRY_VOID(check_allowed(*options.bind, Use::listen, options.keys.has_value()));
    if (options.keys) state->door.emplace(state->context, options.keys->enrolled, options.admits);
    state->router = make_router(state->context, options.keys);
    state->router_monitor = state->router.monitor(state->context, kRouterEvents);
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
  Link& link = state_->links.try_emplace(peer, state_->context, state_->keys, state_->counters, endpoint).first->second;
  if (const Result<void> opened = link.open(); !opened) {
    ++state_->counters.malformed;
    state_->events.emplace_back(Malformed{peer, opened.error().message});
  }
  state_->build_items();
}

void ZmqTransport::disconnect(Peer peer) {
  if (const auto at = state_->links.find(peer); at != state_->links.end()) {
    if (at->second.socket) at->second.socket.set(ZMQ_LINGER, kDisconnectLingerMs);
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
  [[maybe_unused]] const auto size = ::write(state_->wakeup.get(), &one, sizeof one);  // full: the loop wakes anyway
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
  for (auto& [peer, link] : state_->links) {
    if (link.socket) link.socket.set(ZMQ_LINGER, linger_ms);
  }
  if (state_->router) state_->router.set(ZMQ_LINGER, linger_ms);
  state_->links.clear();
  state_->router.close();
  state_->router_monitor.close();
  state_->build_items();
}

// look() relies on the order: items[0] is the wake-up, items[1] the timer.
void ZmqTransport::State::build_items() {
  items.clear();
  items.push_back({nullptr, wakeup.get(), ZMQ_POLLIN, 0});
  items.push_back({nullptr, timer.get(), ZMQ_POLLIN, 0});
  const auto add = [&](const zmq::Socket& socket) {
    if (socket) items.push_back({socket.get(), 0, ZMQ_POLLIN, 0});
  };
  add(router);
  add(router_monitor);
  if (door) add(door->socket());
  for (const auto& [peer, link] : links) {
    add(link.socket);
    add(link.monitor);
  }
}

// Polls all sockets for `wait` at most, then reads them into `events`. A timerfd ends the wait, as
// zmq_poll counts milliseconds. True: wake() ended the wait (wait > 0: common/runtime/transport.h).
bool ZmqTransport::State::look(std::chrono::microseconds wait) {
  if (guards()) wait = std::min(wait, ConnectionWatch::kPeriod);
  wait = std::min(wait, until_next_try());
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
  if (door) look_at_keys();
  if (router) read_router();
  bool changed = false;
  for (auto& [peer, link] : links) {
    if (link.socket) read_link(peer, link);
    changed |= link.try_again();
  }
  if (changed) build_items();
  events.insert(events.end(), std::make_move_iterator(fresh.begin()), std::make_move_iterator(fresh.end()));
  fresh.clear();
  return woken;
}

std::chrono::microseconds ZmqTransport::State::until_next_try() const {
  auto first = Link::Clock::time_point::max();
  for (const auto& [peer, link] : links) first = std::min(first, link.next_try().value_or(first));
  if (first == Link::Clock::time_point::max()) return std::chrono::microseconds::max();
  const auto left = std::chrono::ceil<std::chrono::microseconds>(first - Link::Clock::now());
  return std::max(left, std::chrono::microseconds(0));
}

bool ZmqTransport::State::guards() const {
  return guard.open() > 0 || std::ranges::any_of(links, [](const auto& link) { return link.second.guard.open() > 0; });
}

void ZmqTransport::State::malformed(std::optional<Peer> peer, std::string why) {
  ++counters.malformed;
  if (peer) fresh.emplace_back(Malformed{*peer, std::move(why)});
}

void ZmqTransport::State::deliver(Peer peer, Boundary boundary, std::span<const std::byte> payload) {
  if (const size_t most = frame_bytes_max(boundary); payload.size() > most) {
    return malformed(peer, fmt::format("a frame of {} bytes, the limit is {}", payload.size(), most));
  }
  ++counters.received;
  counters.received_bytes += payload.size();
  fresh.emplace_back(FrameFrom{peer, Frame{boundary, {payload.begin(), payload.end()}}});
}

// Reads all frames of a message after `head`. False: it has not exactly two frames.
bool ZmqTransport::State::take_payload(zmq::Socket& socket, ConnectionGuard& of, zmq::Message& head, zmq::Message& payload) {
  const int fd = head.connection_fd();
  size_t frames = 1, bytes = wire_bytes_of(head.bytes().size());
  for (bool more = head.more(); more && socket.receive(payload); more = payload.more()) {
    bytes += wire_bytes_of(payload.bytes().size());
    if (++frames == kFramesPerMessageMax + 1) of.cut(fd, CutReason::frames);
  }
  of.delivered(fd, bytes);
  look_left.take(frames, bytes);
  return frames == 2;
}

// Monitor first, messages next, ends of connections last: the last message of a connection, such
// as Leaving, must reach the actor before its PeerDown.
void ZmqTransport::State::read_router() {
  read_router_monitor();
  guard.before_reading();
  unread |= !read_router_frames();
  for (const int fd : guard.after_reading()) {
    if (const auto peer = incoming.peer_at(fd)) fresh.emplace_back(Malformed{*peer, std::string(kHeldTooMuch)});
  }
  counters.connections = guard.open();
}

// False: a limit of the look was reached before the socket was empty.
bool ZmqTransport::State::read_router_frames() {
  for (look_left = {}; look_left.any(); --look_left.messages) {
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
      handshakes.accepted(event.value);
      users.erase(event.value);
    } else if (event.event == ZMQ_EVENT_DISCONNECTED) {
      incoming.disconnected(event.value);
      guard.closed(event.value);
      handshakes.ended(event.value);
      users.erase(event.value);
    } else {
      handshakes.failed(event.event);
    }
  }
  return any;
}

// A key that is no longer enrolled ends the connections that it opened, not only later handshakes.
void ZmqTransport::State::look_at_keys() {
  door->answer();
  if (!door->look_again()) return;
  for (const auto& [fd, user] : users) {
    if (door->who(user) == nullptr) guard.cut(fd, CutReason::revoked);
  }
}

// One message of the ROUTER socket; `id`: the routing id that ZeroMQ puts before its frames. All of
// its frames are read before any check, or the next message would begin in the middle of this one.
void ZmqTransport::State::take_router_frame(zmq::Message& id) {
  const ConnectionId connection = id.text();
  zmq::Message head, payload;
  if (!id.more() || !router.receive(head)) return malformed(incoming.peer_of(connection), "a message without an envelope");
  const int fd = head.connection_fd();
  const auto envelope = unpack(head.bytes());
  const bool two = take_payload(router, guard, head, payload);
  if (!envelope) return malformed(incoming.peer_of(connection), envelope.error().message);
  std::string key;
  if (!incoming.knows(connection)) {
    read_router_monitor();  // the descriptor may be reused: its older connection's end must be reported first
    if (door) {
      users[fd] = head.user();
      if (const std::string* name = door->who(users[fd])) key = *name;
    }
  }
  const auto peer = incoming.sender(connection, fd, envelope->sender, fresh, std::move(key));
  if (!peer) {
    const auto named = incoming.peer_of(connection);
    if (named) malformed(named, "a connection that changed its incarnation");
    return;
  }
  guard.heard(fd);
  if (!two) return malformed(peer, "a message that has not two frames");
  deliver(*peer, envelope->boundary, payload.bytes());
}

// In the same order as read_router().
void ZmqTransport::State::read_link(Peer peer, Link& link) {
  read_link_monitor(peer, link);
  link.guard.before_reading();
  unread |= !read_link_frames(peer, link);
  if (!link.guard.after_reading().empty()) fresh.emplace_back(Malformed{peer, std::string(kHeldTooMuch)});
}

bool ZmqTransport::State::read_link_frames(Peer peer, Link& link) {
  for (look_left = {}; look_left.any(); --look_left.messages) {
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
  for (auto news = link.read_monitor(); news != Link::News::none; news = link.read_monitor()) {
    if (news == Link::News::up_again) fresh.emplace_back(PeerDown{peer});
    fresh.emplace_back(PeerUp{peer});
  }
}

void ZmqTransport::State::take_link_frame(Peer peer, Link& link, zmq::Message& head) {
  zmq::Message payload;
  const auto envelope = unpack(head.bytes());
  const bool two = take_payload(link.socket, link.guard, head, payload);
  // If the link is still down, the message is of a connection whose PeerDown was given.
  if (!link.up) read_link_monitor(peer, link);
  if (!link.up) return void(++counters.dropped_gone);
  if (!envelope) return malformed(peer, envelope.error().message);
  if (!two) return malformed(peer, "a message that has not two frames");
  deliver(peer, envelope->boundary, payload.bytes());
}

}  // namespace slipstream
