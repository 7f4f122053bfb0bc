// A transport that lets everything pass but trees: in place of each it sends the next mischief (mischief.h). After kStrikesMax
// of them it calls `done`, since by then the verifier may have stopped listening: a new life goes on with the rest.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "tests/e2e/scripted/mischief.h"

namespace slipstream {

class HostileTransport final : public Transport {
 public:
  // context: outlives this, as does `next_mischief`, which goes on across lives.
  HostileTransport(std::unique_ptr<Transport> inner, std::span<const Mischief> mischief, size_t& next_mischief,
                   MischiefContext& context, std::function<void()> done)
      : inner_(std::move(inner)),
        mischief_(mischief),
        next_mischief_(next_mischief),
        context_(context),
        done_(std::move(done)) {}

  void connect(Peer peer, const std::string& endpoint) override { inner_->connect(peer, endpoint); }
  void disconnect(Peer peer) override { inner_->disconnect(peer); }
  void send(Peer peer, Frame frame) override;
  std::optional<TransportEvent> next(std::chrono::microseconds wait) override { return inner_->next(wait); }
  void wake() override { inner_->wake(); }
  void close(std::chrono::milliseconds linger) override { inner_->close(linger); }
  const TransportCounters& counters() const override { return inner_->counters(); }

 private:
  std::unique_ptr<Transport> inner_;
  std::span<const Mischief> mischief_;
  size_t& next_mischief_;
  MischiefContext& context_;
  std::function<void()> done_;
  int sent_ = 0;
};

}  // namespace slipstream
