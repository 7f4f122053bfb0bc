#include <bit>
#include <cstring>

#include "common/wire/flat.h"
#include "common/wire/generation.h"
#include "common/wire/parts.h"
#include "common/wire/schema/draft.capnp.h"

namespace slipstream::wire {
namespace {

// The overloads below would hide those of parts.h.
using wire::read;

Fence read(schema::Fence::Reader from) {
  return {.sequence = read(from.getSequence()),
          .epoch = from.getEpoch(),
          .round = from.getRound(),
          .base_length = from.getBaseLength(),
          .prefix_hash = from.getPrefixHash()};
}

Result<DraftMessage> read(schema::Attach::Reader from) {
  TRY(auto fingerprint, read(from.getFingerprint()));
  return Attach{.versions = read(from.getVersions()),
                .verifier = from.getVerifier(),
                .fingerprint = std::move(fingerprint),
                .head = from.getHead()};
}

Result<DraftMessage> read(schema::Attached::Reader from) {
  Attached attached{.version = from.getVersion(), .drafter = from.getDrafter()};
  TRY(attached.fingerprint, read(from.getFingerprint()));
  TRY(attached.method, read("Attached.method", from.getMethod()));
  TRY(attached.model, read("Attached.model", from.getModel()));
  TRY(attached.refusal, read("Attached.refusal", from.getRefusal()));
  attached.attach_first = from.getAttachFirst();
  attached.reads_features = from.getNeeds().getFeatures();
  return attached;
}

Result<std::vector<uint16_t>> read_features(capnp::Data::Reader from) {
  TRY_VOID(bounded("Advance.features", from.size() / sizeof(uint16_t), kAdvanceFeaturesMax));
  if (from.size() % sizeof(uint16_t) != 0) return fail("Advance.features has {} bytes, and a number has two", from.size());
  static_assert(std::endian::native == std::endian::little);
  std::vector<uint16_t> numbers(from.size() / sizeof(uint16_t));
  if (!numbers.empty()) std::memcpy(numbers.data(), from.begin(), from.size());
  return numbers;
}

Result<DraftMessage> read(schema::Advance::Reader from) {
  Advance advance{.fence = read(from.getFence()), .draft = from.getDraft()};
  TRY(advance.tokens, read("Advance.tokens", from.getTokens(), kAdvanceTokensMax));
  TRY(advance.features, read_features(from.getFeatures()));
  TRY(advance.tuning, read(from.getTuning()));
  if (from.hasInfo()) {
    TRY(advance.info, read(from.getInfo()));
  }
  TRY(advance.verdicts, read("Advance.verdicts", from.getVerdicts(), kTreeNodesMax + 1));
  if (advance.verdicts.size() == 1) return fail("Advance.verdicts has 1 entry: a root and its nodes have at least 2");
  if (from.getRootVerdict() == kNoVerdict) return advance;
  if (!advance.verdicts.empty()) return fail("Advance.rootVerdict stands beside verdicts: a tree has nodes or none");
  advance.verdicts = {from.getRootVerdict()};
  return advance;
}

Result<DraftMessage> read(schema::Release::Reader from) {
  return Release{.sequence = read(from.getSequence()), .epoch = from.getEpoch()};
}

Result<DraftDistribution> read(schema::DraftDistribution::Reader from) {
  DraftDistribution distribution;
  TRY(distribution.ids, read("DraftDistribution.ids", from.getIds(), kDraftDistributionTokensMax));
  const auto weights = from.getWeights();
  TRY_VOID(bounded("DraftDistribution.weights", weights.size(), kDraftDistributionTokensMax));
  for (const uint16_t weight : weights) distribution.weights.push_back(weight);
  return distribution;
}

Result<DraftMessage> read(schema::Tree::Reader from) {
  Tree tree{.fence = read(from.getFence()), .draft_us = from.getDraftUs()};
  TRY(tree.no_nodes, read_enum("Tree.noNodes", from.getNoNodes(), NoNodes::below_threshold));
  const auto nodes = from.getNodes();
  TRY_VOID(bounded("Tree.nodes", nodes.size(), kTreeNodesMax));
  tree.nodes.reserve(nodes.size());
  for (auto node : nodes) {
    tree.nodes.push_back({.token = node.getToken(), .parent = node.getParent(), .survival = node.getSurvival()});
  }
  TRY_VOID(bounded("Tree.distributions", from.getDistributions().size(), kTreeNodesMax + 1));
  for (auto distribution : from.getDistributions()) {
    TRY(tree.distributions.emplace_back(), read(distribution));
  }
  return tree;
}

Result<DraftMessage> read(schema::Resync::Reader from) {
  return Resync{
      .sequence = read(from.getSequence()), .epoch = from.getEpoch(), .round = from.getRound(), .held = from.getHeld()};
}

Result<DraftMessage> read(schema::Draft::Reader top) {
  switch (top.which()) {
    case schema::Draft::NONE:
      return fail("an empty draft message");
    case schema::Draft::ATTACH:
      return read(top.getAttach());
    case schema::Draft::ATTACHED:
      return read(top.getAttached());
    case schema::Draft::ADVANCE:
      return read(top.getAdvance());
    case schema::Draft::RELEASE:
      return read(top.getRelease());
    case schema::Draft::TREE:
      return read(top.getTree());
    case schema::Draft::RESYNC:
      return read(top.getResync());
    case schema::Draft::FEATURES:  // reserved: treated as an unknown tag
      break;
  }
  // A message of a newer release. It is no error, so that two releases can work together.
  return Unknown{static_cast<uint16_t>(top.which())};
}

}  // namespace

Result<DraftMessage> decode_draft(std::span<const std::byte> bytes) {
  return decode_checked<schema::Draft, DraftMessage>(bytes, kDraftFrameBytesMax,
                                                     [](schema::Draft::Reader top) { return read(top); });
}

}  // namespace slipstream::wire
