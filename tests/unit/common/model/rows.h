// Builds steps for the tests of this folder: prompt chunks and trees of several sequences, as the verifier lays them out.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "common/base/tree_node.h"
#include "common/kv/block_table.h"
#include "common/model/language_model.h"

namespace slipstream {

struct Rows {
  explicit Rows(int32_t blocks_max) : blocks_max(blocks_max) {}

  // Adds a sequence's block table; its index is what the row adders take.
  int32_t sequence_of(const BlockTable& blocks) {
    const auto index = static_cast<int32_t>(table.size()) / blocks_max;
    table.insert(table.end(), blocks.blocks().begin(), blocks.blocks().end());
    table.resize(static_cast<size_t>(index + 1) * static_cast<size_t>(blocks_max), -1);
    return index;
  }
  void prompt(int32_t sequence, const BlockTable& blocks, std::span<const TokenId> tokens, int32_t from) {
    for (size_t i = 0; i < tokens.size(); ++i) {
      const int32_t at = from + static_cast<int32_t>(i);
      add({.token = tokens[i],
           .position = at,
           .slot = blocks.slot(at),
           .sequence = sequence,
           .visible = at + 1,
           .ancestors = 0});
    }
  }
  // Row 0 is the root, the last emitted token; row i + 1 is node i.
  void tree(int32_t sequence, const BlockTable& blocks, int32_t committed, TokenId root, std::span<const TreeNode> nodes) {
    std::vector<uint64_t> masks{1};
    std::vector<int32_t> depths{0};
    add({.token = root,
         .position = committed,
         .slot = blocks.slot(committed),
         .sequence = sequence,
         .visible = committed,
         .ancestors = 1});
    for (const TreeNode& node : nodes) {
      const auto parent = static_cast<size_t>(node.parent + 1);
      const auto row = static_cast<int32_t>(masks.size());
      masks.push_back(masks[parent] | uint64_t{1} << row);
      depths.push_back(depths[parent] + 1);
      add({.token = node.token,
           .position = committed + depths.back(),
           .slot = blocks.slot(committed + row),
           .sequence = sequence,
           .visible = committed,
           .ancestors = masks.back()});
    }
  }

  int32_t count() const { return static_cast<int32_t>(token.size()); }
  Step view() const {
    return {.token = token,
            .position = position,
            .slot = slot,
            .sequence = sequence,
            .visible = visible,
            .ancestors = ancestors,
            .block_table = table,
            .blocks_max = blocks_max,
            .sampling = sampling,
            .wanted = wanted,
            .moves = moves};
  }

  std::vector<int32_t> token, position, slot, sequence, visible, table, wanted;
  std::vector<uint64_t> ancestors;
  std::vector<RowSampling> sampling;
  std::vector<KvMove> moves;
  int32_t blocks_max;

 private:
  struct Row {
    int32_t token, position, slot, sequence, visible;
    uint64_t ancestors;
  };
  void add(const Row& row) {  // every row's logits are wanted
    wanted.push_back(count());
    token.push_back(row.token);
    position.push_back(row.position);
    slot.push_back(row.slot);
    sequence.push_back(row.sequence);
    visible.push_back(row.visible);
    ancestors.push_back(row.ancestors);
    // Half of them sampled: choose() must not depend on the batch either.
    const SamplingParams params{.temperature = row.position % 2 == 0 ? 0.0F : 1.0F};
    sampling.push_back({.seed = 7, .choice = 0, .position = static_cast<uint32_t>(row.position), .params = params});
  }
};

}  // namespace slipstream
