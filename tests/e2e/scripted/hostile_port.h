// Where a drafter says that verifiers shall connect, and what awaits them there: a message that
// never ends, or a drafter that says it is attached and then never reads a byte.
#pragma once

#include <string>
#include <thread>

#include "common/messages/draft.h"
#include "tests/zmtp/zmtp_peer.h"

namespace slipstream {

class HostilePort {
 public:
  // attached: what the deaf one says once; nullopt: endless messages in place of it.
  explicit HostilePort(std::optional<Attached> attached);
  std::string endpoint() const;

 private:
  void serve(const std::stop_token& stop) const;

  std::string first_;  // bytes of the wire
  std::string then_;   // again and again, until the connection is cut; empty: nothing more
  ZmtpListener listener_;
  std::jthread thread_;  // last: it ends first
};

}  // namespace slipstream
