// Builds steps for the tests of this folder: prompt chunks and trees of several sequences, as the
// verifier lays them out.
#pragma once

#include <span>
#include <vector>

#include "common/base/tree_node.h"
#include "common/kv/block_table.h"
#include "common/model/language_model.h"
#include "common/model/step_plan.h"

namespace slipstream {

struct Rows : StepPlan {
  explicit Rows(int32_t blocks) { blocks_max = blocks; }

  // Adds a sequence's block table; its index is what the row adders take.
  int32_t sequence_of(const BlockTable& blocks) { return add_sequence(blocks.blocks()); }
  void prompt(int32_t of, const BlockTable& blocks, std::span<const TokenId> tokens, int32_t from) {
    for (size_t i = 0; i < tokens.size(); ++i) {
      const int32_t at = from + static_cast<int32_t>(i);
      add_wanted({.token = tokens[i],
                  .position = at,
                  .slot = blocks.slot(at),
                  .parent_slot = at == 0 ? -1 : blocks.slot(at - 1),
                  .sequence = of,
                  .visible = at + 1});
    }
  }
  // Row 0 is the root, the last emitted token; row i + 1 is node i.
  void tree(int32_t of, const BlockTable& blocks, int32_t committed, TokenId root, std::span<const TreeNode> nodes) {
    std::vector<uint64_t> masks{1};
    std::vector<int32_t> depths{0};
    add_wanted({.token = root,
                .position = committed,
                .slot = blocks.slot(committed),
                .parent_slot = committed == 0 ? -1 : blocks.slot(committed - 1),
                .sequence = of,
                .visible = committed,
                .ancestors = 1});
    for (const TreeNode& node : nodes) {
      const auto parent = static_cast<size_t>(node.parent + 1);
      const auto row = static_cast<int32_t>(masks.size());
      masks.push_back(masks[parent] | uint64_t{1} << row);
      depths.push_back(depths[parent] + 1);
      add_wanted({.token = node.token,
                  .position = committed + depths.back(),
                  .slot = blocks.slot(committed + row),
                  .parent_slot = blocks.slot(committed + static_cast<int32_t>(parent)),
                  .sequence = of,
                  .visible = committed,
                  .ancestors = masks.back()});
    }
  }
  int32_t count() const { return rows(); }

 private:
  void add_wanted(const Row& row) {  // every row's logits are
    add(row);
    // Half of them sampled: choose() must not depend on the batch either.
    const SamplingParams params{.temperature = row.position % 2 == 0 ? 0.0F : 1.0F};
    want({.seed = 7, .choice = 0, .position = static_cast<uint32_t>(row.position), .params = params});
  }
};

}  // namespace slipstream
