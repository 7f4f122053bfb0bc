#include "tools/train/acceptance_data.h"

#include <algorithm>

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

namespace slipstream::train {
namespace {

// The examples of one part, before they are a tensor.
struct Part {
  AcceptanceExamples examples;
  std::vector<uint16_t> states;

  void add(const Draft& draft, size_t node, int64_t column, size_t hidden) {
    const auto state = draft.states.subspan(node * hidden, hidden);
    states.insert(states.end(), state.begin(), state.end());
    examples.accepted.push_back(static_cast<float>(draft.nodes[node].matched));
    examples.confidence.push_back(draft.nodes[node].confidence);
    examples.column.push_back(column);
  }
  // Up to the first rejected node: what lies behind it is accepted by no one.
  void learn(const Draft& draft, int64_t column, size_t hidden) {
    for (size_t node = 0; node < draft.nodes.size(); ++node) {
      add(draft, node, column, hidden);
      if (draft.nodes[node].matched == 0) break;
    }
  }
  AcceptanceExamples taken(int64_t hidden) {
    examples.states = at::from_blob(states.data(), {examples.size(), hidden}, at::kBFloat16).to(at::kFloat);
    return std::move(examples);
  }
  bool has_both() const {
    const auto accepted = std::ranges::count(examples.accepted, 1.0F);
    return accepted > 0 && accepted < examples.size();
  }
};

constexpr const char* kTooFew = "the traces have too few drafts to learn from: trace more chats, or lower --held-out-every";

}  // namespace

Result<AcceptanceData> AcceptanceData::of(std::span<const DraftTrace> traces, int64_t held_out_every) {
  const TraceOrigin& first = traces.front().origin();
  Part train, calibrate, measure;
  for (const DraftTrace& trace : traces) {
    if (trace.origin().drafter != first.drafter || trace.origin().target != first.target) {
      return fail("the traces are of different drafters or targets ({:016x} and {:016x}): trace them anew", first.drafter,
                  trace.origin().drafter);
    }
    for (size_t chat = 0; chat < trace.chats(); ++chat) {
      const int64_t place = static_cast<int64_t>(chat) % held_out_every;
      Part& part = place == 0 ? calibrate : place == 1 ? measure : train;
      for (size_t at = 0; at < trace.drafts(chat); ++at) {
        part.learn(trace.draft(chat, at), column_of(trace.origin()), static_cast<size_t>(first.hidden));
      }
    }
  }
  if (!train.has_both() || !calibrate.has_both() || !measure.has_both()) return fail("{}", kTooFew);
  return AcceptanceData{
      .train = train.taken(first.hidden), .calibrate = calibrate.taken(first.hidden), .measure = measure.taken(first.hidden)};
}

AcceptanceExamples nodes_of_chat(const DraftTrace& trace, size_t chat) {
  Part part;
  for (size_t at = 0; at < trace.drafts(chat); ++at) {
    const Draft draft = trace.draft(chat, at);
    for (size_t node = 0; node < draft.nodes.size(); ++node) {
      part.add(draft, node, column_of(trace.origin()), static_cast<size_t>(trace.origin().hidden));
    }
  }
  return part.taken(trace.origin().hidden);
}

}  // namespace slipstream::train
