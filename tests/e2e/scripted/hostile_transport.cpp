#include "tests/e2e/scripted/hostile_transport.h"

namespace slipstream {

void HostileTransport::send(Peer peer, Frame frame) {
  if (frame.boundary != Boundary::draft) return raw_.send(peer, std::move(frame));
  auto message = wire::decode_draft(frame.bytes);
  Tree* tree = message ? std::get_if<Tree>(&*message) : nullptr;
  if (tree == nullptr || tree->nodes.empty()) return raw_.send(peer, std::move(frame));
  const Mischief& mischief = plot_.mischief[plot_.next_mischief++ % plot_.mischief.size()];
  for (const Parcel& parcel : mischief.parcels(std::move(*tree), plot_.context)) raw_.send_parcel(peer, parcel);
  if (++sent_ == kStrikesMax) done_();
}

}  // namespace slipstream
