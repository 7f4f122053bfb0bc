#include "common/wire/flat.h"
#include "common/wire/generation.h"
#include "common/wire/parts.h"
#include "common/wire/schema/generate.capnp.h"
#include "common/wire/text.h"

namespace slipstream::wire {
namespace {

using Top = schema::Generate::Builder;
// The overloads below would hide those of parts.h.
using wire::write;

// Both lists of this file have the size of their vector: the caller initialised them with it.
void write(capnp::List<schema::DrafterRef>::Builder to, const std::vector<DrafterRef>& drafters) {
  for (unsigned at = 0; at < to.size(); ++at) {
    to[at].setIncarnation(drafters[at].incarnation);
    to[at].setEndpoint(drafters[at].endpoint);
    write(to[at].initTuning(), drafters[at].tuning);
  }
}

void write(Top top, const Start& start) {
  auto to = top.initStart();
  write(to.initSequence(), start.sequence);
  to.setEpoch(start.epoch);
  write(to, start.spec);
  to.setScored(start.scored);
  to.setLeaseMs(start.lease_ms);
  write(to.initTokens(static_cast<unsigned>(start.tokens.size())), start.tokens);
  write(to.initDrafters(static_cast<unsigned>(start.drafters.size())), start.drafters);
  to.setDraftNodesMax(start.draft_nodes_max);
  to.setDraftDepthMax(start.draft_depth_max);
}

void write(Top top, const Ack& ack) {
  auto to = top.initAck();
  write(to.initSequence(), ack.sequence);
  to.setEpoch(ack.epoch);
  to.setNextIndex(ack.next_index);
  to.setFinished(ack.finished);
}

void write(Top top, const Cancel& cancel) {
  auto to = top.initCancel();
  write(to.initSequence(), cancel.sequence);
  to.setEpoch(cancel.epoch);
}

void write(Top top, const Assign& assign) {
  auto to = top.initAssign();
  write(to.initSequence(), assign.sequence);
  to.setEpoch(assign.epoch);
  to.setVersion(assign.version);
  write(to.initDrafters(static_cast<unsigned>(assign.drafters.size())), assign.drafters);
}

void write(Top top, const Accepted& accepted) {
  auto to = top.initAccepted();
  write(to.initSequence(), accepted.sequence);
  to.setEpoch(accepted.epoch);
}

void write(Top top, const Refused& refused) {
  auto to = top.initRefused();
  write(to.initSequence(), refused.sequence);
  to.setEpoch(refused.epoch);
  to.setRetry(refused.retry);
  to.setReason(fit(refused.reason));
}

void write(schema::Report::Builder to, const SpeculationReport& report) {
  to.setSteps(report.steps);
  to.setReceived(report.received);
  to.setAccepted(report.accepted);
  to.setRejected(report.rejected);
  to.setUnreached(report.unreached);
  to.setTrimmed(report.trimmed);
  to.setLate(report.late);
  to.setStale(report.stale);
  to.setInvalid(report.invalid);
  to.setMerged(report.merged);
  to.setHeld(report.held);
  to.setSpent(report.spent);
  to.setCachedTokens(report.cached_tokens);
  to.setNearTies(report.near_ties);
}

void write(capnp::List<schema::TokenLogprob>::Builder to, const std::vector<TokenLogprob>& logprobs) {
  for (unsigned at = 0; at < to.size(); ++at) {
    to[at].setLogprob(logprobs[at].logprob);
    to[at].setRank(logprobs[at].rank);
    auto top = to[at].initTop(static_cast<unsigned>(logprobs[at].top.size()));
    for (unsigned place = 0; place < top.size(); ++place) {
      top[place].setId(logprobs[at].top[place].id);
      top[place].setLogprob(logprobs[at].top[place].logprob);
    }
  }
}

void write(schema::TreeReport::Builder to, const TreeReport& tree) {
  to.setFirstIndex(tree.first_index);
  to.setOwn(tree.own);
  auto proposers = to.initProposers(static_cast<unsigned>(tree.proposers.size()));
  for (unsigned at = 0; at < proposers.size(); ++at) {
    proposers[at].setMethod(fit(tree.proposers[at].method));
    proposers[at].setModel(fit(tree.proposers[at].model));
  }
  auto nodes = to.initNodes(static_cast<unsigned>(tree.nodes.size()));
  for (unsigned at = 0; at < nodes.size(); ++at) {
    const ReportedNode& node = tree.nodes[at];
    nodes[at].setToken(node.token);
    nodes[at].setChance(node.chance);
    nodes[at].setParent(static_cast<int16_t>(node.parent));
    nodes[at].setFate(as<schema::NodeFate>(node.fate));
    nodes[at].setBy(node.by);
  }
}

void write(Top top, const Tokens& tokens) {
  auto to = top.initTokens();
  write(to.initSequence(), tokens.sequence);
  to.setEpoch(tokens.epoch);
  to.setFirstIndex(tokens.first_index);
  to.setFinish(as<schema::Finish>(tokens.finish));
  write(to.initIds(static_cast<unsigned>(tokens.ids.size())), tokens.ids);
  auto drafted = to.initDrafted(static_cast<unsigned>(tokens.drafted.size()));
  for (unsigned at = 0; at < drafted.size(); ++at) drafted.set(at, tokens.drafted[at] != 0);
  auto depths = to.initDepths(static_cast<unsigned>(tokens.depths.size()));
  for (unsigned at = 0; at < depths.size(); ++at) depths.set(at, tokens.depths[at]);
  to.setReason(fit(tokens.reason));
  to.setField(tokens.field);
  write(to.initReport(), tokens.report);
  if (!tokens.logprobs.empty()) {
    write(to.initLogprobs(static_cast<unsigned>(tokens.logprobs.size())), tokens.logprobs);
  }
  if (tokens.trees.empty()) return;
  auto trees = to.initTrees(static_cast<unsigned>(tokens.trees.size()));
  for (unsigned at = 0; at < trees.size(); ++at) write(trees[at], tokens.trees[at]);
}

void write(Top, const Unknown&) { CHECK(false, "nobody sends an Unknown"); }

}  // namespace

Bytes encode(const GenerateMessage& message) {
  return encode_checked<schema::Generate>(message,
                                          [&](Top top) { std::visit([&](const auto& m) { write(top, m); }, message); });
}

}  // namespace slipstream::wire
