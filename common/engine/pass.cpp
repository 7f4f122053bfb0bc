#include "common/engine/pass.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace slipstream {

// Adds the sequence's moves, block table and context rows. Returns the index of its block table. A
// context row sees every position up to its own, and no tree.
int32_t Pass::begin(CachedSequence& sequence, PassSlice& slice, const ScoredTokens& scored) {
  plan_.moves.insert(plan_.moves.end(), sequence.moves_.begin(), sequence.moves_.end());
  sequence.moves_.clear();
  const int32_t index = plan_.add_sequence(sequence.blocks());
  const int32_t end = sequence.cached() + slice.context_rows;
  slice.first_scored = static_cast<int32_t>(plan_.logprobs.size());
  for (int32_t position = sequence.cached(); position < end; ++position) {
    plan_.add({.token = sequence.tokens()[static_cast<size_t>(position)],
               .position = position,
               .slot = sequence.slot(position),
               .parent_slot = position == 0 ? -1 : sequence.slot(position - 1),
               .sequence = index,
               .visible = position + 1});
    const int32_t next = position + 1;
    if (next < scored.first || next >= scored.end) continue;
    plan_.want({.params = kLogitsOnly});
    plan_.logprobs.push_back({.wanted = static_cast<int32_t>(plan_.wanted.size()) - 1,
                              .top = scored.top,
                              .next = sequence.tokens()[static_cast<size_t>(next)]});
    ++slice.scored;
  }
  return index;
}

PassSlice Pass::add_context(CachedSequence& sequence, int32_t rows, const ScoredTokens& scored) {
  PassSlice slice{.context_rows = rows};
  begin(sequence, slice, scored);
  return slice;
}

// A tree's root and the blocks of its sequence.
struct Pass::Root {
  std::span<const int32_t> blocks;
  TokenId token = 0;
  int32_t position = 0, output = 0;
  const std::shared_ptr<const LogitsProcessor>& logits_processor;
};

TreeBase take_base(CachedSequence& sequence) {
  return {.blocks = {sequence.blocks().begin(), sequence.blocks().end()},
          .moves = sequence.take_moves(),
          .token = sequence.tokens().back(),
          .root = sequence.root(),
          .output = sequence.output(),
          .logits_processor = sequence.logits_processor()};
}

PassSlice Pass::add_tree(CachedSequence& sequence, int32_t context_rows, const PassTree& tree, const ScoredTokens& scored) {
  PassSlice slice{.context_rows = context_rows};
  const int32_t table = begin(sequence, slice, scored);
  const std::shared_ptr<const LogitsProcessor> processor = sequence.logits_processor();
  add_rows(table,
           {.blocks = sequence.blocks(),
            .token = sequence.tokens().back(),
            .position = sequence.root(),
            .output = sequence.output(),
            .logits_processor = processor},
           tree, slice);
  return slice;
}

PassSlice Pass::add_tree(TreeBase& base, const PassTree& tree) {
  plan_.moves.insert(plan_.moves.end(), base.moves.begin(), base.moves.end());
  base.moves.clear();
  PassSlice slice;
  add_rows(plan_.add_sequence(base.blocks),
           {.blocks = base.blocks,
            .token = base.token,
            .position = base.root,
            .output = base.output,
            .logits_processor = base.logits_processor},
           tree, slice);
  return slice;
}

// A tree's row sees the context before the root, and behind it its ancestors, the root included.
// Its position is that on its own path; its slot follows the order of the rows, so siblings share a
// position but no slot.
void Pass::add_rows(int32_t table, const Root& root, const PassTree& tree, PassSlice& slice) {
  slice.first_wanted = static_cast<int32_t>(plan_.wanted.size());
  slice.first_logprob = static_cast<int32_t>(plan_.logprobs.size());
  const int32_t processor = root.logits_processor ? plan_.add_logits_processor(root.logits_processor) : -1;
  const auto drafted = [&](int row) { return tree.rows[static_cast<size_t>(row)].token; };
  for (size_t at = tree.first; at < tree.rows.size(); ++at) {
    const TreeRow& row = tree.rows[at];
    const int32_t before = row.depth == 0 ? root.position - 1 : root.position + row.parent;
    plan_.add({.token = row.depth == 0 ? root.token : row.token,
               .position = root.position + row.depth,
               .slot = slot_in(root.blocks, root.position + static_cast<int32_t>(at)),
               .parent_slot = before < 0 ? -1 : slot_in(root.blocks, before),
               .sequence = table,
               .visible = root.position,
               .ancestors = row.ancestors});
    plan_.want({.seed = tree.seed,
                .choice = tree.choice,
                .position = static_cast<uint32_t>(root.output + row.depth),
                .params = tree.params});
    if (tree.top_logprobs) {
      const int32_t parent = row.depth == 0 ? -1 : slice.first_logprob + row.parent;
      plan_.logprobs.push_back(
          {.wanted = static_cast<int32_t>(plan_.wanted.size()) - 1, .parent = parent, .top = *tree.top_logprobs});
    }
    const std::shared_ptr<const RowMask> mask = tree.masks.empty() ? nullptr : tree.masks[at];
    if (processor >= 0 || mask != nullptr) plan_.process(processor, row.ancestors, drafted, mask);
  }
}

// Rows of one sequence are neighbours, so the end of a run is the end of a sequence's slice.
StepLoad load_of(const StepPlan& plan, int32_t window) {
  const auto within = [window](int32_t positions, int32_t rows) {  // of neighbouring rows
    return window == 0 ? positions : std::min(positions, window + rows - 1);
  };
  StepLoad load{.rows = plan.rows()};
  load.whole_output = !plan.processed.empty() || !plan.logprobs.empty() ||
                      std::ranges::any_of(plan.sampling, [](const RowSampling& row) { return row.params.temperature > 0; });
  int32_t seen = 0, rows = 0;  // positions that the rows of this sequence see, so far
  for (size_t row = 0; row < plan.visible.size(); ++row) {
    load.pairs += within(plan.visible[row], 1);
    seen = std::max(seen, plan.visible[row] + static_cast<int32_t>(std::bit_width(plan.ancestors[row])));
    ++rows;
    const bool last = row + 1 == plan.visible.size() || plan.sequence[row + 1] != plan.sequence[row];
    if (last) load.reads += within(std::exchange(seen, 0), std::exchange(rows, 0));
  }
  return load;
}

}  // namespace slipstream
