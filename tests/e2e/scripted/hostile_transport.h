// A transport that lets everything pass but trees: in place of each it sends the next mischief
// (mischief.h). After kStrikesMax of them it calls `done`, since by then the verifier may have
// stopped listening: a new life goes on with the rest.
#pragma once

#include <functional>
#include <utility>

#include "tests/e2e/scripted/mischief.h"

namespace slipstream {

class HostileTransport final : public Transport {
 public:
  // next_mischief goes on across lives. All that is referred to outlives this.
  struct Plot {
    std::span<const Mischief> mischief;
    size_t next_mischief = 0;
    MischiefContext context;
  };
  HostileTransport(RawTransport& raw, Plot& plot, std::function<void()> done)
      : raw_(raw), plot_(plot), done_(std::move(done)) {}

  void connect(Peer peer, const std::string& endpoint) override { raw_.connect(peer, endpoint); }
  void disconnect(Peer peer) override { raw_.disconnect(peer); }
  void send(Peer peer, Frame frame) override;
  std::optional<TransportEvent> next(std::chrono::microseconds wait) override { return raw_.next(wait); }
  void wake() override { raw_.wake(); }
  void close(std::chrono::milliseconds linger) override { raw_.close(linger); }
  const TransportCounters& counters() const override { return raw_.counters(); }

 private:
  RawTransport& raw_;
  Plot& plot_;
  std::function<void()> done_;
  int sent_ = 0;
};

}  // namespace slipstream
