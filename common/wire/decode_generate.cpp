#include "common/wire/flat.h"
#include "common/wire/generation.h"
#include "common/wire/parts.h"
#include "common/wire/schema/generate.capnp.h"

namespace slipstream::wire {
namespace {

// The overloads below would hide those of parts.h.
using wire::read;

Result<std::vector<DrafterRef>> read(const char* what, capnp::List<schema::DrafterRef>::Reader from) {
  TRY_VOID(bounded(what, from.size(), kDraftersPerSequenceMax));
  std::vector<DrafterRef> drafters;
  for (auto drafter : from) {
    DrafterRef& to = drafters.emplace_back();
    to.incarnation = drafter.getIncarnation();
    TRY(to.endpoint, read("DrafterRef.endpoint", drafter.getEndpoint()));
    TRY(to.tuning, read(drafter.getTuning()));
  }
  return drafters;
}

// Not named read(): that name reads the spec of a Start (wire/generation.h).
Result<GenerateMessage> read_start(schema::Start::Reader from) {
  Start start{.sequence = read(from.getSequence()),
              .epoch = from.getEpoch(),
              .draft_nodes_max = from.getDraftNodesMax(),
              .draft_depth_max = from.getDraftDepthMax(),
              .scored = from.getScored(),
              .lease_ms = from.getLeaseMs()};
  TRY(start.spec, read(from));
  TRY(start.tokens, read("Start.tokens", from.getTokens(), kContextTokensMax));
  TRY(start.drafters, read("Start.drafters", from.getDrafters()));
  return start;
}

Result<GenerateMessage> read(schema::Ack::Reader from) {
  return Ack{.sequence = read(from.getSequence()),
             .epoch = from.getEpoch(),
             .next_index = from.getNextIndex(),
             .finished = from.getFinished()};
}

Result<GenerateMessage> read(schema::Cancel::Reader from) {
  return Cancel{.sequence = read(from.getSequence()), .epoch = from.getEpoch()};
}

Result<GenerateMessage> read(schema::Assign::Reader from) {
  Assign assign{.sequence = read(from.getSequence()), .epoch = from.getEpoch(), .version = from.getVersion()};
  TRY(assign.drafters, read("Assign.drafters", from.getDrafters()));
  return assign;
}

Result<GenerateMessage> read(schema::Accepted::Reader from) {
  return Accepted{.sequence = read(from.getSequence()), .epoch = from.getEpoch()};
}

Result<GenerateMessage> read(schema::Refused::Reader from) {
  TRY(auto reason, read("Refused.reason", from.getReason()));
  return Refused{
      .sequence = read(from.getSequence()), .epoch = from.getEpoch(), .reason = std::move(reason), .retry = from.getRetry()};
}

SpeculationReport read(schema::Report::Reader from) {
  return {.steps = from.getSteps(),
          .received = from.getReceived(),
          .accepted = from.getAccepted(),
          .rejected = from.getRejected(),
          .unreached = from.getUnreached(),
          .trimmed = from.getTrimmed(),
          .late = from.getLate(),
          .stale = from.getStale(),
          .invalid = from.getInvalid(),
          .merged = from.getMerged(),
          .held = from.getHeld(),
          .spent = from.getSpent(),
          .cached_tokens = from.getCachedTokens(),
          .near_ties = from.getNearTies()};
}

Result<std::vector<TokenLogprob>> read(capnp::List<schema::TokenLogprob>::Reader from) {
  TRY_VOID(bounded("Tokens.logprobs", from.size(), kTokensPerMessageMax));
  std::vector<TokenLogprob> logprobs;
  for (auto each : from) {
    TokenLogprob& to = logprobs.emplace_back();
    to.logprob = each.getLogprob();
    to.rank = each.getRank();
    const auto top = each.getTop();
    TRY_VOID(bounded("TokenLogprob.top", top.size(), kTopLogprobsMax));
    for (auto place : top) to.top.push_back({.id = place.getId(), .logprob = place.getLogprob()});
  }
  return logprobs;
}

Result<TreeReport> read(schema::TreeReport::Reader from) {
  TreeReport tree{.first_index = from.getFirstIndex(), .own = from.getOwn(), .proposers = {}, .nodes = {}};
  TRY_VOID(bounded("TreeReport.proposers", from.getProposers().size(), kProposersMax));
  for (auto each : from.getProposers()) {
    Proposer& to = tree.proposers.emplace_back();
    TRY(to.method, read("Proposer.method", each.getMethod(), kProposerBytesMax));
    TRY(to.model, read("Proposer.model", each.getModel(), kProposerBytesMax));
  }
  TRY_VOID(bounded("TreeReport.nodes", from.getNodes().size(), kTreeNodesMax));
  for (auto each : from.getNodes()) {
    TRY(const NodeFate fate, read_enum("ReportedNode.fate", each.getFate(), NodeFate::trimmed));
    tree.nodes.push_back(
        {.token = each.getToken(), .parent = each.getParent(), .chance = each.getChance(), .by = each.getBy(), .fate = fate});
  }
  return tree;
}

Result<GenerateMessage> read(schema::Tokens::Reader from) {
  Tokens tokens{.sequence = read(from.getSequence()),
                .epoch = from.getEpoch(),
                .first_index = from.getFirstIndex(),
                .report = read(from.getReport())};
  TRY(tokens.ids, read("Tokens.ids", from.getIds(), kTokensPerMessageMax));
  TRY_VOID(bounded("Tokens.drafted", from.getDrafted().size(), kTokensPerMessageMax));
  for (bool drafted : from.getDrafted()) tokens.drafted.push_back(drafted ? 1 : 0);
  TRY_VOID(bounded("Tokens.depths", from.getDepths().size(), kTokensPerMessageMax));
  for (uint8_t depth : from.getDepths()) tokens.depths.push_back(depth);
  TRY(tokens.finish, read_enum("Tokens.finish", from.getFinish(), Finish::error));
  TRY(tokens.reason, read("Tokens.reason", from.getReason()));
  TRY(tokens.field, read("Tokens.field", from.getField()));
  TRY(tokens.logprobs, read(from.getLogprobs()));
  TRY_VOID(bounded("Tokens.trees", from.getTrees().size(), kTreeReportsMax));
  for (auto each : from.getTrees()) {
    TRY(TreeReport tree, read(each));
    tokens.trees.push_back(std::move(tree));
  }
  return tokens;
}

Result<GenerateMessage> read(schema::Generate::Reader top) {
  switch (top.which()) {
    case schema::Generate::NONE:
      return fail("an empty generate message");
    case schema::Generate::START:
      return read_start(top.getStart());
    case schema::Generate::ACK:
      return read(top.getAck());
    case schema::Generate::CANCEL:
      return read(top.getCancel());
    case schema::Generate::ACCEPTED:
      return read(top.getAccepted());
    case schema::Generate::REFUSED:
      return read(top.getRefused());
    case schema::Generate::TOKENS:
      return read(top.getTokens());
    case schema::Generate::ASSIGN:
      return read(top.getAssign());
  }
  // A message of a newer release. It is no error, so that two releases can work together.
  return Unknown{static_cast<uint16_t>(top.which())};
}

}  // namespace

Result<GenerateMessage> decode_generate(std::span<const std::byte> bytes) {
  return decode_checked<schema::Generate, GenerateMessage>(bytes, kControlFrameBytesMax,
                                                           [](schema::Generate::Reader top) { return read(top); });
}

}  // namespace slipstream::wire
