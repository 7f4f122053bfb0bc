#include "common/runtime/zmq_link.h"

#include <utility>

#include "common/base/log.h"
#include "common/runtime/endpoint.h"
#include "common/runtime/zmq_settings.h"

namespace slipstream {
namespace {

constexpr int kEvents = ZMQ_EVENT_CONNECTED | ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_DISCONNECTED |
                        ZMQ_EVENT_HANDSHAKE_FAILED_AUTH | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL |
                        ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL;

}  // namespace

Link::Link(const zmq::Context& context, std::optional<Keys>& keys, TransportCounters& counters, const std::string& endpoint)
    : guard(ConnectionWatch::Side::connecting, counters),
      context_(context),
      keys_(keys),
      counters_(counters),
      address_(split_key(endpoint).endpoint),
      key_(split_key(endpoint).key) {}

Result<void> Link::open() {
  tried_ = std::chrono::steady_clock::now();
  TRY_VOID(check_connect_endpoint(address_, keys_.has_value()));
  if (keys_) {
    std::vector<std::string> faults;  // the doorkeeper tells of them
    if (auto fresh = Enrolled::read(keys_->enrolled.folder(), &faults)) keys_->enrolled = *std::move(fresh);
  }
  auto made = make_dealer(context_, keys_, key_);
  if (!made) return fail("{}: {}", address_, made.error().message);
  socket = *std::move(made);
  monitor = socket.monitor(context_, kEvents);
  return socket.connect(address_);
}

bool Link::try_again() {
  if (up || std::chrono::steady_clock::now() - tried_ < std::chrono::milliseconds(kConnectAnewMs)) return false;
  if (socket) {
    tried_ = std::chrono::steady_clock::now();
    socket.disconnect(address_);
    return !socket.connect(address_);
  }
  const Result<void> opened = open();
  if (!opened && gate_.open()) log_warning("{}{}", opened.error().message, gate_.unsaid());
  return opened.has_value();
}

Link::News Link::read_monitor() {
  News news = News::none;
  for (auto event = zmq::next_event(monitor); event.event != 0; event = zmq::next_event(monitor)) {
    switch (event.event) {
      case ZMQ_EVENT_CONNECTED:
        guard.opened(event.value);
        break;
      case ZMQ_EVENT_DISCONNECTED:
        guard.closed(event.value);
        ended = up;
        tried_ = std::chrono::steady_clock::now();
        break;
      case ZMQ_EVENT_HANDSHAKE_SUCCEEDED:
        news = std::exchange(ended, false) ? News::up_again : News::up;
        up = true;
        return news;  // who reads must tell of it before the next
      default:
        handshake_failed(event.event);
    }
  }
  return news;
}

void Link::handshake_failed(int event) {
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
  if (!protocol && !keys_) return;  // it died, most likely
  if (gate_.open()) {
    log_warning("no handshake with {}: {}{}", address_,
                keys_ ? fmt::format("it does not have the key {} as it is enrolled here, or has none", key_)
                      : "it wants keys (give this process --key and --peers), or is none of Slipstream's",
                gate_.unsaid());
  }
}

}  // namespace slipstream
