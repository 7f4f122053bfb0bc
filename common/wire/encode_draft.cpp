#include <bit>
#include <cstring>
#include <span>

#include "common/wire/flat.h"
#include "common/wire/generation.h"
#include "common/wire/parts.h"
#include "common/wire/schema/draft.capnp.h"
#include "common/wire/text.h"

namespace slipstream::wire {
namespace {

using Top = schema::Draft::Builder;
// The overloads below would hide those of parts.h.
using wire::write;

void write(schema::Fence::Builder to, const Fence& fence) {
  write(to.initSequence(), fence.sequence);
  to.setEpoch(fence.epoch);
  to.setRound(fence.round);
  to.setPrefixHash(fence.prefix_hash);
  to.setBaseLength(fence.base_length);
}

void write(Top top, const Attach& attach) {
  auto to = top.initAttach();
  write(to.initVersions(), attach.versions);
  to.setVerifier(attach.verifier);
  write(to.initFingerprint(), attach.fingerprint);
  to.setHead(attach.head);
}

void write(Top top, const Attached& attached) {
  auto to = top.initAttached();
  to.setDrafter(attached.drafter);
  to.setVersion(attached.version);
  write(to.initFingerprint(), attached.fingerprint);
  to.setMethod(attached.method);
  to.setModel(fit(attached.model));  // a folder's name may be no UTF-8
  to.setRefusal(fit(attached.refusal));
  to.setAttachFirst(attached.attach_first);
  if (attached.reads_features) to.initNeeds().setFeatures(true);
}

void write(Top top, const Advance& advance) {
  auto to = top.initAdvance();
  write(to.initFence(), advance.fence);
  write(to.initTokens(static_cast<unsigned>(advance.tokens.size())), advance.tokens);
  to.setDraft(advance.draft);
  write(to.initTuning(), advance.tuning);
  if (advance.info) write(to.initInfo(), *advance.info);
  if (!advance.features.empty()) {
    static_assert(std::endian::native == std::endian::little);
    const auto features = std::as_bytes(std::span(advance.features));
    auto bytes = to.initFeatures(static_cast<unsigned>(features.size()));
    std::memcpy(bytes.begin(), features.data(), features.size());
  }
  if (advance.verdicts.size() == 1) {  // releases before this field take a list of one for malformed
    to.setRootVerdict(advance.verdicts.front());
  } else if (!advance.verdicts.empty()) {
    write(to.initVerdicts(static_cast<unsigned>(advance.verdicts.size())), advance.verdicts);
  }
}

void write(Top top, const Release& release) {
  auto to = top.initRelease();
  write(to.initSequence(), release.sequence);
  to.setEpoch(release.epoch);
}

void write(Top top, const Tree& tree) {
  auto to = top.initTree();
  write(to.initFence(), tree.fence);
  to.setDraftUs(tree.draft_us);
  to.setNoNodes(as<schema::NoNodes>(tree.no_nodes));
  auto nodes = to.initNodes(static_cast<unsigned>(tree.nodes.size()));
  for (unsigned at = 0; at < nodes.size(); ++at) {
    nodes[at].setToken(tree.nodes[at].token);
    nodes[at].setParent(tree.nodes[at].parent);
    nodes[at].setSurvival(tree.nodes[at].survival);
  }
  if (tree.distributions.empty()) return;
  auto distributions = to.initDistributions(static_cast<unsigned>(tree.distributions.size()));
  for (unsigned row = 0; row < distributions.size(); ++row) {
    const DraftDistribution& distribution = tree.distributions[row];
    write(distributions[row].initIds(static_cast<unsigned>(distribution.ids.size())), distribution.ids);
    auto weights = distributions[row].initWeights(static_cast<unsigned>(distribution.weights.size()));
    for (unsigned at = 0; at < weights.size(); ++at) weights.set(at, distribution.weights[at]);
  }
}

void write(Top top, const Resync& resync) {
  auto to = top.initResync();
  write(to.initSequence(), resync.sequence);
  to.setEpoch(resync.epoch);
  to.setRound(resync.round);
  to.setHeld(resync.held);
}

void write(Top, const Unknown&) { CHECK(false, "nobody sends an Unknown"); }

}  // namespace

Bytes encode(const DraftMessage& message) {
  return encode_checked<schema::Draft>(message, [&](Top top) { std::visit([&](const auto& m) { write(top, m); }, message); });
}

}  // namespace slipstream::wire
