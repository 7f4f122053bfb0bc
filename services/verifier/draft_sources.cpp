// A round's draft is merged from the trees of its sources: the request's grammar, the resident
// method and the sequence's drafters. Each source has its calibration, and learns from what became
// of its nodes.
#include <algorithm>
#include <optional>
#include <utility>

#include "common/messages/shown_names.h"
#include "common/speculation/merged_tree.h"
#include "common/speculation/verdicts.h"
#include "services/verifier/draft_kinds.h"
#include "services/verifier/rounds.h"

namespace slipstream {
namespace {

// [nodes] that each is accepted; a child at most as likely as its parent.
std::vector<float> chances(const Calibration& calibration, const TokenTree& tree) {
  std::vector<float> chances;
  for (const TreeNode& node : tree.nodes()) {
    const float most = node.parent == kRoot ? 1.0F : chances[static_cast<size_t>(node.parent)];
    chances.push_back(std::min(calibration.chance(node.survival, tree.depth(static_cast<int>(chances.size()))), most));
  }
  return chances;
}

// The place of a source in the order of credit: as DraftBy has it, the drafters with the lead
// first; past them all, a drafter that the sequence has left since.
constexpr auto kFirstDrafter = static_cast<size_t>(DraftBy::drafter);
size_t place_of(const DraftSource& source, const SequenceDrafting& drafting) {
  if (source.by != DraftBy::drafter) return static_cast<size_t>(source.by);
  const auto at = std::ranges::find(drafting.drafters, source.drafter, &SequenceDrafter::peer);
  return kFirstDrafter + static_cast<size_t>(at - drafting.drafters.begin());
}

}  // namespace

// A kind stays where it is while a link has it, also one that is down.
KindIndex Rounds::index_of(const DraftKind& kind) const {
  return place_of_kind(counters_, kind, [&](const DraftKind& known) {
    if (known == grammar_.kind || known == resident_.kind() || known == head_.kind()) return true;
    return std::ranges::find(links_.all(), known, &DrafterLink::kind) != links_.all().end();
  });
}

// Null: the drafter has gone.
Calibration* Rounds::calibration_of(const VerifierSequence& sequence, Peer drafter) const {
  DrafterLink* link = links_.find(drafter);
  return link == nullptr ? nullptr : &link->calibrations.of(sequence.spec.acceptance.rule);
}

Calibration* Rounds::calibration_of(const VerifierSequence& sequence, const DraftSource& source) {
  const Rule rule = sequence.spec.acceptance.rule;
  if (source.by == DraftBy::grammar) return &grammar_.calibrations.of(rule);
  if (source.by == DraftBy::head) return &head_.calibrations().of(rule);
  return source.by == DraftBy::resident ? &resident_.calibrations().of(rule) : calibration_of(sequence, source.drafter);
}

// How deep a guess may be, and how unlikely, for the round that begins.
StopRule Rounds::rule_here(const VerifierSequence& sequence, float threshold) const {
  const SequenceDrafting& drafting = sequence.drafting;
  return {.nodes_max = std::min<int>(drafting.draft_nodes_max, kTreeNodesMax),
          .depth_max = std::clamp(depth_left(sequence), 0, int{drafting.draft_depth_max}),
          .threshold = threshold};
}

// It needs no probes: where only one token is allowed, the guess cannot be wrong, and such guesses
// come in every answer.
void Rounds::draft_by_grammar(VerifierSequence& sequence) {
  DraftSource source{.by = DraftBy::grammar, .kind = index_of(grammar_.kind), .tree = {}};
  const float least = calibration_of(sequence, source)->survival_of(sequence.drafting.price);
  const bool pays = least <= 1;
  ++counters_of(source.kind).rounds.at(static_cast<size_t>(pays ? RoundAsk::asked : RoundAsk::nothing_pays));
  if (!pays) return;
  source.tree = grammar_tree(*sequence.grammar, rule_here(sequence, 1.0F - least));
  sequence.fates.arrive(source.kind, static_cast<size_t>(source.tree.size()));
  merge_in(sequence, std::move(source));
}

// Where no survival has the chance that pays, nothing is drafted but probes.
void Rounds::draft_here(VerifierSequence& sequence) {
  SequenceDrafting& drafting = sequence.drafting;
  DraftSource source{.by = DraftBy::resident, .kind = index_of(resident_.kind()), .tree = {}};
  const float least = calibration_of(sequence, source)->survival_of(drafting.price);
  ProbeClock& clock = resident_.probes(sequence.spec.acceptance.rule);
  const bool probes = clock.due();
  const bool pays = least <= 1 || probes;
  const RoundAsk what = pays ? RoundAsk::asked : RoundAsk::nothing_pays;
  ++counters_of(source.kind).rounds.at(static_cast<size_t>(what));
  if (!pays) return;
  source.tree = resident_.draft(sequence, rule_here(sequence, probes ? 1.0F : 1.0F - least));
  if (probes && !source.tree.empty()) {
    drafting.draft.resident_probes = true;
    clock.begins();
  }
  sequence.fates.arrive(source.kind, static_cast<size_t>(source.tree.size()));
  merge_in(sequence, std::move(source));
}

// Counts whether the head is asked, which is returned.
bool Rounds::asks_head(VerifierSequence& sequence, bool pays) {
  ++counters_of(head_.kind()).rounds.at(static_cast<size_t>(pays ? RoundAsk::asked : RoundAsk::nothing_pays));
  if (pays) head_.asked(sequence.spec.acceptance.rule, sequence.drafting.head);
  return pays;
}

// A sequence whose prompt is not computed yet has no features for the head to read.
std::optional<StopRule> Rounds::ask_head(VerifierSequence& sequence, double step_seconds) {
  SequenceDrafting& drafting = sequence.drafting;
  DraftRound& draft = drafting.draft;
  const bool possible = head_.drafts() && sequence.decodes() && drafting.draft_nodes_max > 0 && !draft.plain;
  if (!possible || depth_left(sequence) < 1 || std::exchange(draft.head_considered, true)) return std::nullopt;
  const Rule rule = sequence.spec.acceptance.rule;
  if (is_sampled(rule)) return ask_head_to_sample(sequence, step_seconds);
  for (const TreeNode& node : draft.tree.tokens().nodes()) {
    if (node.parent == kRoot) draft.head_guessed = std::max(draft.head_guessed, node.survival);
  }
  const float least = head_.calibrations().of(rule).survival_of(drafting.price);
  draft.head_probes = head_.due_for_probe(rule, drafting.head, drafting.price, step_seconds);
  const bool pays =
      draft.head_probes || (least <= 1 && head_.pays(rule, drafting.head, draft.head_guessed, drafting.price, step_seconds));
  if (!asks_head(sequence, pays)) return std::nullopt;
  if (config_.head_rule) return chain_within(rule_here(sequence, 1), *config_.head_rule);
  StopRule stop = rule_here(sequence, least > 1 ? 1.0F : 1.0F - least);
  stop.level_price = head_.pass_price(step_seconds);
  return stop;
}

// Only what is known before anything is sampled decides how large the tree is (adr/0008).
std::optional<StopRule> Rounds::ask_head_to_sample(VerifierSequence& sequence, double step_seconds) {
  SequenceDrafting& drafting = sequence.drafting;
  const Acceptance& acceptance = sequence.spec.acceptance;
  StopRule stop = rule_here(sequence, 1);
  if (stop.depth_max < 1) return std::nullopt;
  const bool pays = head_.due_for_probe(acceptance.rule, drafting.head, drafting.price, step_seconds) ||
                    head_.pays(acceptance.rule, drafting.head, /*guessed=*/0, drafting.price, step_seconds);
  if (!asks_head(sequence, pays)) return std::nullopt;
  if (drafting.head.asks == 0) drafting.rate = AcceptanceRate(head_.sampled_alpha());
  const int siblings = std::max(acceptance.root_children, acceptance.children);
  const double price = siblings * double{drafting.price} + head_.pass_price(step_seconds);
  stop.depth_max = std::max(chain_length(drafting.rate.alpha(), price, stop.depth_max), 1);
  stop.nodes_max = std::min(stop.nodes_max, stop.depth_max * siblings);
  drafting.draft.nodes_asked = stop.nodes_max;
  return stop;
}

void Rounds::head_tree(VerifierSequence& sequence, DraftTree tree) {
  DraftRound& draft = sequence.drafting.draft;
  draft.head_asked = true;
  const KindIndex kind = index_of(head_.kind());
  sequence.fates.arrive(kind, static_cast<size_t>(tree.size()));
  if (!is_sampled(sequence.spec.acceptance.rule)) {
    return merge_in(sequence, {.by = DraftBy::head, .kind = kind, .tree = tree.tokens()});
  }
  draft.kinds.assign(static_cast<size_t>(tree.size()), kind);
  draft.tree = std::move(tree);
}

void Rounds::count_gain(const VerifierSequence& sequence, const DraftSource& source, const Own& own, Time now) {
  const Rule rule = sequence.spec.acceptance.rule;
  DrafterWorth& worth = gains_.at(static_cast<size_t>(source.by)).of(rule);
  worth.asked(own.accepted, own.verified, now);
  DraftKindCounters& counters = counters_of(source.kind);
  counters.here = true;
  (rule == Rule::greedy ? counters.greedy_gain : counters.coupled_gain) = worth.gain(row_price_);
}

void Rounds::end_head(VerifierSequence& sequence, const Own& own) {
  SequenceDrafting& drafting = sequence.drafting;
  if (!drafting.draft.head_asked) return;
  head_.won(sequence.spec.acceptance.rule, drafting.head, own.verified, own.accepted, drafting.draft.head_guessed);
}

// The nodes of `source` are held already. Those that the request's grammar forbids cost no row, nor
// does a node behind which it is not known what the grammar allows: its row could not be masked.
void Rounds::merge_in(VerifierSequence& sequence, DraftSource source) {
  DraftRound& draft = sequence.drafting.draft;
  if (sequence.grammar) {
    const auto before = static_cast<size_t>(source.tree.size());
    source.tree.keep(sequence.grammar->allowed_nodes(source.tree));
    sequence.fates.settle(source.kind, before - static_cast<size_t>(source.tree.size()), Fate::trimmed);
  }
  const Calibration* calibration = calibration_of(sequence, source);
  const std::vector<float> gains = chances(calibration == nullptr ? Calibration() : *calibration, source.tree);
  MergedTree merged = merge(draft.tree.tokens(), source.tree.with_survivals(gains));
  // A node that both have stays that of the kind which had it first.
  const std::vector<int32_t> at = places(draft.tree.tokens(), merged.tree);
  std::vector<KindIndex> kinds(static_cast<size_t>(merged.tree.size()), source.kind);
  auto cut = static_cast<size_t>(merged.cut);  // of the new nodes, once those of the draft are taken off
  for (size_t node = 0; node < at.size(); ++node) {
    if (at[node] >= 0) {
      kinds[static_cast<size_t>(at[node])] = draft.kinds[node];
    } else {
      sequence.fates.settle(draft.kinds[node], 1, Fate::trimmed);
      --cut;
    }
  }
  sequence.fates.settle(source.kind, static_cast<size_t>(merged.shared), Fate::merged);
  sequence.fates.settle(source.kind, cut, Fate::trimmed);
  draft.kinds = std::move(kinds);
  draft.tree = DraftTree(std::move(merged.tree));
  draft.sources.push_back(std::move(source));
}

// Of each source that probes, its likeliest first token.
std::vector<int32_t> Rounds::probes(const VerifierSequence& sequence) const {
  const DraftRound& draft = sequence.drafting.draft;
  std::vector<int32_t> nodes;
  for (const DraftSource& source : draft.sources) {
    if (!sequence.drafting.probes(source) || source.tree.empty()) continue;
    const TreeNode& best = *std::ranges::max_element(
        source.tree.nodes(), {}, [](const TreeNode& node) { return node.parent == kRoot ? node.survival : -1; });
    if (const int node = draft.tree.tokens().child(kRoot, best.token); node >= 0) nodes.push_back(node);
  }
  return nodes;
}

void Rounds::sort_sources(SequenceDrafting& drafting) {
  std::ranges::sort(drafting.draft.sources, {}, [&](const DraftSource& source) { return place_of(source, drafting); });
}

// A rule of the ratio family has one tree, the head's or the lead's, which is no source.
std::vector<Proposal> Rounds::proposals(VerifierSequence& sequence) {
  SequenceDrafting& drafting = sequence.drafting;
  sort_sources(drafting);
  const auto shown = [](const DraftKind& kind) { return Proposer{kind.method, kind.model}; };
  std::vector<Proposal> proposals;
  for (const DraftSource& source : drafting.draft.sources) {
    const Calibration* calibration = calibration_of(sequence, source);
    if (calibration == nullptr) continue;  // its drafter has gone
    proposals.push_back({shown(counters_of(source.kind).kind), source.tree.with_survivals(chances(*calibration, source.tree))});
  }
  if (!is_sampled(sequence.spec.acceptance.rule)) return proposals;
  if (drafting.draft.head_asked) proposals.push_back({shown(head_.kind()), {}});
  if (drafting.lead() == nullptr) return proposals;
  if (const DrafterLink* link = links_.find(drafting.lead()->peer)) proposals.push_back({shown(link->kind), {}});
  return proposals;
}

// What became of each node is counted, and changes what the survivals of its sources mean. A node
// is credited to the first source that guessed it. Returns what is credited to each drafter,
// [drafters].
std::vector<Rounds::Own> Rounds::learn(VerifierSequence& sequence, const VerifiedTree& verified, Time now) {
  SequenceDrafting& drafting = sequence.drafting;
  sort_sources(drafting);
  std::vector<Own> own(kFirstDrafter + drafting.drafters.size());                            // by place
  std::vector<std::optional<size_t>> guessed_by(static_cast<size_t>(verified.tree.size()));  // [nodes] the first place
  for (const DraftSource& source : drafting.draft.sources) {
    const size_t place = place_of(source, drafting);
    Calibration* calibration = calibration_of(sequence, source);
    if (place >= own.size() || calibration == nullptr) continue;
    DraftKindCounters& counters = counters_of(source.kind);
    const std::vector<float> predicted = chances(*calibration, source.tree);
    const std::vector<int32_t> at = places(source.tree, verified.tree);
    for (int32_t node = 0; node < source.tree.size(); ++node) {
      const int32_t there = at[static_cast<size_t>(node)];
      if (there < 0) continue;  // it was cut
      const bool accepted = std::ranges::find(verified.path, there) != verified.path.end();
      const float chance = predicted[static_cast<size_t>(node)];
      const int depth = source.tree.depth(node);
      counters.reliability.verified(chance, accepted);
      const float survival = source.tree.nodes()[static_cast<size_t>(node)].survival;
      counters.by_depth.at(calibration_range(depth)).add(chance, accepted);
      counters.by_survival.verified(survival, accepted);
      calibration->verified(survival, depth, accepted);
      std::optional<size_t>& first = guessed_by[static_cast<size_t>(there)];
      if (!first) first = place;
      if (source.by == DraftBy::resident) resident_.probes(sequence.spec.acceptance.rule).verified();
      own[place].seen = true;
      if (*first != place) continue;
      ++own[place].verified;
      own[place].accepted += accepted ? 1 : 0;
    }
  }
  for (const DraftSource& source : drafting.draft.sources) {
    const size_t place = place_of(source, drafting);
    if (place < own.size() && own[place].verified > 0) ++counters_of(source.kind).rounds_verified;
    if (source.by != DraftBy::drafter) count_gain(sequence, source, own[static_cast<size_t>(source.by)], now);
  }
  end_head(sequence, own[static_cast<size_t>(DraftBy::head)]);
  own.erase(own.begin(), own.begin() + kFirstDrafter);
  return own;
}

void Rounds::keep_verdicts(SequenceDrafting& drafting, const VerifiedTree& verified) {
  for (const DraftSource& source : drafting.draft.sources) {
    SequenceDrafter* drafter = drafting.find(source.drafter);
    if (drafter == nullptr || !source.gets_verdicts) continue;
    drafter->verdicts = verdicts_on(source.sent, verified.tree, verified.choices);
  }
}

// Where no survival has that chance, no node pays, and only probes are asked for.
void Rounds::set_price(VerifierSequence& sequence, float price) {
  row_price_ = price;
  sequence.drafting.price = price;
  for (SequenceDrafter& drafter : sequence.drafting.drafters) {
    const Calibration* calibration = calibration_of(sequence, drafter.peer);
    const float least = calibration == nullptr ? 0 : calibration->survival_of(price);
    drafter.backoff.set_row_budget(least > 1 ? 0 : kTreeNodesMax);
    drafter.threshold = least > 1 ? 1.0F : 1.0F - least;
  }
}

}  // namespace slipstream
