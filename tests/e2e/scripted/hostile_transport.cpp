#include "tests/e2e/scripted/hostile_transport.h"

#include "common/wire/codec.h"

namespace slipstream {

void HostileTransport::send(Peer peer, Frame frame) {
  if (frame.boundary != Boundary::draft) return inner_->send(peer, std::move(frame));
  auto message = wire::decode_draft(frame.bytes);
  Tree* tree = message ? std::get_if<Tree>(&*message) : nullptr;
  if (tree == nullptr || tree->nodes.empty()) return inner_->send(peer, std::move(frame));
  const Mischief& mischief = mischief_[next_mischief_++ % mischief_.size()];
  for (Frame& bad : mischief.frames(std::move(*tree), context_)) inner_->send(peer, std::move(bad));
  if (++sent_ == kStrikesMax) done_();
}

}  // namespace slipstream
