#include "services/verifier/drafting_page.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace slipstream {
namespace {

constexpr std::pair<RoundAsk, const char*> kWhyNot[] = {
    {RoundAsk::fails, "its trees come late, cost more than they win, or bring nothing"},
    {RoundAsk::stays_empty, "its trees bring no node of its own: empty, shared, or too late beside the lead"},
    {RoundAsk::nothing_pays, "no guess that it may make is likely enough to pay for its row"},
    {RoundAsk::tried_elsewhere, "it brings next to nothing, so it is asked for one sequence at a time"},
    {RoundAsk::early, "the prompt is still being computed"}};

std::string name_of(const DraftKind& kind) {
  return kind.model.empty() ? kind.method : fmt::format("{} ({})", kind.method, kind.model);
}

std::string gain_words(const DraftKindCounters& kind) {
  if (!kind.greedy_gain && !kind.coupled_gain) return "no ask of it has ended, so what one wins is not known";
  const auto of = [](const std::optional<double>& gain, const char* requests) {
    return gain ? fmt::format("{:.2f} tokens ({})", *gain, requests) : fmt::format("nobody knows what ({})", requests);
  };
  return fmt::format("an ask wins {}, {}, less what its rows cost", of(kind.greedy_gain, "greedy"),
                     of(kind.coupled_gain, "sampled"));
}

std::string row(const DraftKindCounters& kind) {
  uint64_t nodes = 0, accepted = 0, rounds = 0;
  for (const Reliability::Bin& bin : kind.reliability.bins()) {
    nodes += bin.nodes;
    accepted += bin.accepted;
  }
  for (const uint64_t count : kind.rounds) rounds += count;
  std::string text = fmt::format("  {}\n    nodes verified {}, accepted {}", name_of(kind.kind), nodes, accepted);
  if (nodes > 0) text += fmt::format("; predicted chances are off by {:.3f} on average", kind.reliability.error());
  text += "\n";
  if (kind.drafters > 0 || kind.here) {
    const std::string who = kind.here ? "in this process" : fmt::format("{} attached", kind.drafters);
    text += fmt::format("    {}; {}\n", who, gain_words(kind));
  }
  if (kind.answer_seconds > 0) {
    text +=
        fmt::format("    its trees come after {:.1f} ms, of which it drafts for {:.1f} ms; steps waited {:.1f} s for them\n",
                    kind.answer_seconds * 1e3, kind.drafting_seconds * 1e3, kind.waited_seconds);
  }
  const uint64_t asked = kind.rounds[static_cast<size_t>(RoundAsk::asked)];
  text += fmt::format("    asked in {} of {} rounds", asked, rounds);
  if (asked > 0)
    text += fmt::format("; an ask brought {:.2f} accepted nodes", static_cast<double>(accepted) / static_cast<double>(asked));
  text += "\n";
  for (const auto& [why, words] : kWhyNot) {
    const uint64_t count = kind.rounds[static_cast<size_t>(why)];
    if (count > 0) text += fmt::format("    not in {:7}: {}\n", count, words);
  }
  return text;
}

}  // namespace

std::string drafting_page(const VerifierCounters& counters) {
  if (counters.draft_rounds + counters.plain_rounds == 0) return "drafting\n  no step yet, so nobody was asked\n";
  std::string text = fmt::format(
      "drafting\n  a draft node must gain {:.3f} tokens to pay for its row now{}\n  {} steps of sequences had a tree, {} had "
      "none\n",
      counters.node_price, counters.node_price >= 1 ? ", which none can" : "", counters.draft_rounds, counters.plain_rounds);
  if (counters.draft_kinds.empty()) text += "  nobody drafts: no drafter is attached, and there is no resident method\n";
  for (const DraftKindCounters& kind : counters.draft_kinds) text += row(kind);
  return text;
}

}  // namespace slipstream
