#include "common/zmq/handshake_faults.h"

#include <zmq.h>

#include <utility>

#include "common/base/log.h"
#include "common/zmq/kernel_connection.h"

namespace slipstream {

// The address is read now, because the descriptor is closed by the time of ended().
void HandshakeFaults::accepted(int fd) {
  addresses_[fd] = peer_address(fd).value_or("somebody who hung up before its address could be read");
}

void HandshakeFaults::failed(int event) {
  // The ZapAuthenticator has logged the refusal already.
  if (event == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH) return void(++counters_.refused_keys);
  if (event == ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL) return void(++counters_.refused_unfinished);
  ++counters_.refused_protocol;
  mismatch_ = true;
}

void HandshakeFaults::ended(int fd) {
  if (std::exchange(mismatch_, false) && gate_.open()) warn(addresses_[fd]);
  addresses_.erase(fd);
}

void HandshakeFaults::warn(const std::string& who) {
  if (keys_) {
    log_warning(
        "the keys do not match: {} connected and has no keys, or another public key of {} than this process's own. Start it "
        "with "
        "--key and --peers, and give every process the same folder of public keys (here it is {}); docs/use/KEYS.md{}",
        who, keys_->name, keys_->enrolled.folder().string(), gate_.unsaid());
  } else {
    log_warning(
        "the keys do not match: {} connected and has keys, and this process has none (or it is none of Slipstream's). Start "
        "all "
        "with --key and --peers, or none; slipstream keys new FOLDER makes keys, docs/use/KEYS.md{}",
        who, gate_.unsaid());
  }
}

}  // namespace slipstream
