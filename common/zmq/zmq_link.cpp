#include "common/zmq/zmq_link.h"

#include <utility>

#include "common/base/log.h"
#include "common/zmq/allowed_endpoint.h"

namespace slipstream {
namespace {

constexpr int kEvents = ZMQ_EVENT_CONNECTED | ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_DISCONNECTED |
                        ZMQ_EVENT_HANDSHAKE_FAILED_AUTH | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL |
                        ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL;

// A peer may die during a handshake, which deserves no warning; as many failures in a row as this
// have another reason.
constexpr int kDeathsMost = 3;

}  // namespace

Link::Link(const zmq::Context& context, std::optional<Keys>& keys, TransportCounters& counters, const std::string& endpoint)
    : guard(ConnectionWatch::Side::connecting, counters),
      context_(context),
      keys_(keys),
      counters_(counters),
      address_(split_key(endpoint).endpoint),
      key_(split_key(endpoint).key) {}

Result<void> Link::open() {
  anew_at_ = Clock::now() + std::chrono::milliseconds(kReconnectMaxMs);  // if any line below fails
  TRY_VOID(check_allowed(address_, Use::connect, keys_.has_value()));
  if (keys_) {
    std::vector<std::string> faults;  // not logged here: the ZapAuthenticator logs them
    if (auto fresh = Enrolled::read(keys_->enrolled.folder(), &faults)) keys_->enrolled = *std::move(fresh);
  }
  auto made = make_dealer(context_, keys_, key_);
  if (!made) return fail("{}: {}", address_, made.error().message);
  socket = *std::move(made);
  monitor = socket.monitor(context_, kEvents);
  TRY_VOID(socket.connect(address_));
  anew_at_.reset();
  return {};
}

// After a failed handshake the socket is closed at once, so that libzmq does not dial again, and a
// new one is made when the back-off (anew_at_) is over. A link that was established keeps its
// socket until then, because libzmq usually reconnects by itself.
bool Link::try_again() {
  if (up) return false;
  const bool hung_up = std::exchange(failed_, false);
  if (hung_up) hang_up();
  if (!anew_at_ || Clock::now() < *anew_at_) return hung_up;
  hang_up();
  const Result<void> opened = open();
  if (!opened && gate_.open()) log_warning("{}{}", opened.error().message, gate_.unsaid());
  return true;
}

void Link::hang_up() {
  socket.close();
  monitor.close();
  guard.closed(fd_);
}

Link::News Link::read_monitor() {
  News news = News::none;
  for (auto event = zmq::next_event(monitor); event.event != 0; event = zmq::next_event(monitor)) {
    switch (event.event) {
      case ZMQ_EVENT_CONNECTED:
        guard.opened(fd_ = event.value);
        connected_ = Clock::now();
        shaken_ = false;
        anew_at_.reset();
        break;
      case ZMQ_EVENT_DISCONNECTED:
        guard.closed(event.value);
        connection_ended();
        break;
      case ZMQ_EVENT_HANDSHAKE_SUCCEEDED:
        news = std::exchange(ended, false) ? News::up_again : News::up;
        shaken_ = up = true;
        failed_ = false;
        failures_ = 0;
        gaps_.reset();
        gate_ = {};
        return news;  // the caller reports it before it reads further events
      default:
        handshake_failed(event.event);
    }
  }
  return news;
}

void Link::connection_ended() {
  ended = up;
  failed_ = !shaken_;
  // libzmq dials again after a link that was established, unless it ended it for a protocol error
  // of the peer. The long wait covers that case.
  anew_at_ = Clock::now() + (failed_ ? gaps_.next() : Time(std::chrono::milliseconds(kConnectAnewMs)));
}

// Logs the most likely reason, as libzmq does not tell more than the kind of event:
//   AUTH                    the peer refuses our key
//   PROTOCOL                the keys do not match, or one side has none
//   NO_DETAIL, slowly       the peer hangs or speaks another protocol
//   NO_DETAIL, fast         the peer died (no line), or its keys differ if it happens repeatedly
void Link::handshake_failed(int event) {
  ++failures_;
  if (event == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH) {
    ++counters_.refused_keys;
    if (gate_.open()) {
      log_warning("{} refuses this process's key{}: put its .pub file into the folder of enrolled keys there{}", address_,
                  keys_ ? " (" + keys_->name + ")" : "", gate_.unsaid());
    }
    return;
  }
  const bool protocol = event == ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL;
  ++(protocol ? counters_.refused_protocol : counters_.refused_unfinished);
  if (!protocol && failures_ < kDeathsMost) return;  // most likely the peer died
  if (!gate_.open()) return;
  if (!protocol && Clock::now() - connected_ > std::chrono::milliseconds(kHandshakeMs) / 2) {
    log_warning("no handshake with {} within {} ms: it hangs, or is none of Slipstream's; tried again now and then{}", address_,
                kHandshakeMs, gate_.unsaid());
    return;
  }
  if (keys_) {
    log_warning(
        "the keys do not match: {} does not have the key {} as it is enrolled here ({}), or has none. Start it with --key "
        "{}.key, and give every process the same folder of public keys; slipstream keys new FOLDER makes a set "
        "(docs/use/KEYS.md){}",
        address_, key_, (keys_->enrolled.folder() / (key_ + ".pub")).string(), key_, gate_.unsaid());
  } else {
    log_warning(
        "no handshake with {}: it has keys and this process has none (give it --key and --peers; slipstream keys new FOLDER "
        "makes them, docs/use/KEYS.md), or it is none of Slipstream's{}",
        address_, gate_.unsaid());
  }
}

}  // namespace slipstream
