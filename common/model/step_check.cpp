#include "common/model/step_check.h"

#include <bit>

#include "common/base/limits.h"
#include "common/kv/block_pool.h"

namespace slipstream {
namespace {

// All row fields must be as long as the tokens, since the kernels index them alike.
Result<void> check_lengths(const Step& step, int32_t rows_max) {
  const size_t rows = step.token.size();
  if (rows == 0 || rows > static_cast<size_t>(rows_max)) return fail("a step of {} rows; 1 to {} are possible", rows, rows_max);
  if (step.position.size() != rows || step.slot.size() != rows || step.parent_slot.size() != rows ||
      step.sequence.size() != rows || step.visible.size() != rows || step.ancestors.size() != rows) {
    return fail("the row fields of a step differ in length from its {} tokens", rows);
  }
  if (step.sampling.size() != step.wanted.size()) {
    return fail("a step has {} sampling entries for {} wanted rows", step.sampling.size(), step.wanted.size());
  }
  if (step.blocks_max < 1 || step.block_table.empty() || step.block_table.size() % static_cast<size_t>(step.blocks_max) != 0) {
    return fail("a block table of {} entries has no rows of {}", step.block_table.size(), step.blocks_max);
  }
  return {};
}

Result<void> check_range(std::span<const int32_t> values, int64_t end, const char* field, int32_t begin = 0) {
  for (size_t row = 0; row < values.size(); ++row) {
    if (values[row] < begin || values[row] >= end) {
      return fail("{} {} of row {} is not in [{}, {})", field, values[row], row, begin, end);
    }
  }
  return {};
}

// Every position that a row sees must lie in a block that its sequence has and the cache has.
// Called after the row's sequence was checked, which indexes the block table.
Result<void> check_context(const Step& step, size_t row, const StepLimits& limits) {
  const int32_t visible = step.visible[row];
  const uint64_t ancestors = step.ancestors[row];
  if (visible < 0 || (visible == 0 && ancestors == 0)) return fail("row {} sees no position at all", row);
  const int64_t seen = int64_t{visible} + std::bit_width(ancestors);
  const int64_t blocks = (seen + kBlockTokens - 1) / kBlockTokens;
  if (visible > limits.positions || blocks > step.blocks_max) {
    return fail("row {} sees {} positions; the block table has room for {}", row, seen,
                int64_t{step.blocks_max} * kBlockTokens);
  }
  const auto table = step.block_table.subspan(static_cast<size_t>(step.sequence[row]) * static_cast<size_t>(step.blocks_max));
  for (const int32_t block : table.first(static_cast<size_t>(blocks))) {
    if (block < 0 || block >= limits.cache_blocks) return fail("row {} sees block {} of {}", row, block, limits.cache_blocks);
  }
  return {};
}

// -1 names none.
template <class T>
bool names_one(int32_t index, std::span<const std::shared_ptr<const T>> list) {
  if (index == -1) return true;
  return index >= 0 && static_cast<size_t>(index) < list.size() && list[static_cast<size_t>(index)] != nullptr;
}

// Ascending order lets processed() find a row by bisection.
Result<void> check_processed(const Step& step) {
  const auto path = static_cast<int64_t>(step.path.size());
  int32_t before = -1;
  for (const ProcessedRow& row : step.processed) {
    if (row.wanted <= before || row.wanted >= static_cast<int64_t>(step.wanted.size())) {
      return fail("adjusted rows must ascend within the {} wanted ones: {} after {}", step.wanted.size(), row.wanted, before);
    }
    before = row.wanted;
    if (!names_one(row.logits_processor, step.logits_processors)) {
      return fail("wanted row {} is adjusted by number {} of {}", row.wanted, row.logits_processor,
                  step.logits_processors.size());
    }
    if (!names_one(row.mask, step.masks)) {
      return fail("wanted row {} is masked by number {} of {}", row.wanted, row.mask, step.masks.size());
    }
    if (row.path_begin < 0 || row.path_size < 0 || row.path_size > kTreeDepthMax ||
        int64_t{row.path_begin} + row.path_size > path) {
      return fail("wanted row {} has a path of {} tokens from {} on; there are {}", row.wanted, row.path_size, row.path_begin,
                  path);
    }
  }
  return {};
}

Result<void> check_extra(const Step& step, int32_t vocabulary) {
  if (!step.extra.empty() && step.extra.size() != step.token.size() * kExtraTokens) {
    return fail("a step of {} rows has {} extra tokens; {} a row are possible, or none", step.token.size(), step.extra.size(),
                kExtraTokens);
  }
  for (size_t i = 0; i < step.extra.size(); ++i) {
    const TokenId token = step.extra[i].token;
    if (token < -1 || token >= vocabulary) {
      return fail("extra token {} of row {} is not in [-1, {})", token, i / kExtraTokens, vocabulary);
    }
  }
  return {};
}

}  // namespace

// Lengths first, then indices: each check relies on those before it.
Result<void> check_step(const Step& step, const StepLimits& limits) {
  TRY_VOID(check_lengths(step, limits.rows_max));
  const int64_t slots = int64_t{limits.cache_blocks} * kBlockTokens;
  TRY_VOID(check_range(step.token, limits.vocabulary, "token"));
  TRY_VOID(check_range(step.position, limits.positions, "position"));
  TRY_VOID(check_range(step.slot, slots, "slot"));
  TRY_VOID(check_range(step.parent_slot, slots, "slot before that", -1));
  TRY_VOID(check_range(step.sequence, static_cast<int64_t>(step.block_table.size()) / step.blocks_max, "sequence"));
  TRY_VOID(check_range(step.wanted, static_cast<int64_t>(step.token.size()), "wanted row"));
  for (size_t i = 1; i < step.wanted.size(); ++i) {
    if (step.wanted[i] <= step.wanted[i - 1])
      return fail("wanted rows must ascend: {} after {}", step.wanted[i], step.wanted[i - 1]);
  }
  for (size_t row = 0; row < step.token.size(); ++row) {
    TRY_VOID(check_context(step, row, limits));
  }
  TRY_VOID(check_processed(step));
  TRY_VOID(check_extra(step, limits.vocabulary));
  for (const KvMove& move : step.moves) {
    if (move.from < 0 || move.from >= slots || move.to < 0 || move.to >= slots) {
      return fail("a move from slot {} to {}; there are {}", move.from, move.to, slots);
    }
  }
  return {};
}

}  // namespace slipstream
