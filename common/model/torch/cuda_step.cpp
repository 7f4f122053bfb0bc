#include "common/model/torch/cuda_step.h"

#include <algorithm>

#include <ATen/ATen.h>

#include "common/model/torch/byte_layout.h"

namespace slipstream {

cuda::RowRule rule_of(const RowSampling& row) {
  return {.seed = row.seed,
          .choice = row.choice,
          .position = row.position,
          .temperature = row.params.temperature,
          .top_k = row.params.top_k,
          .top_p = row.params.top_p,
          .min_p = row.params.min_p};
}

bool CudaStep::Room::holds(const Room& need) const {
  return need.rows <= rows && need.wanted <= wanted && need.moves <= moves && need.items <= items && need.parts <= parts &&
         need.sequences <= sequences && need.blocks <= blocks && need.extra <= extra;
}

CudaStep::Room CudaStep::Room::grown_to(const Room& need) const {
  return {.rows = grown(rows, need.rows),
          .wanted = grown(wanted, need.wanted),
          .moves = grown(moves, need.moves),
          .items = grown(items, need.items),
          .parts = grown(parts, need.parts),
          .sequences = grown(sequences, need.sequences),
          .blocks = grown(blocks, need.blocks),
          .extra = grown(extra, need.extra)};
}

// The block table and extra tokens come last, so that what a step does not use of them is not
// copied.
void CudaStep::lay_out(const Room& room) {
  room_ = {};  // until all of it is there: an allocation may throw
  ByteLayout layout;
  const auto add = [&](int64_t count, size_t each) { return layout.add(count, each); };
  for (Offset* each : {&token_, &long_slot_, &parent_slot_, &ancestors_}) *each = add(room.rows, sizeof(int64_t));
  long_wanted_ = add(room.wanted, sizeof(int64_t));
  rules_ = add(room.wanted, sizeof(cuda::RowRule));
  for (Offset* each : {&position_, &slot_, &sequence_, &visible_, &first_part_}) *each = add(room.rows, sizeof(int32_t));
  items_ = add(room.items, sizeof(cuda::AttendItem));
  moves_ = add(2 * room.moves, sizeof(int32_t));
  table_ = add(room.sequences * room.blocks, sizeof(int32_t));
  extra_token_ = add(room.extra * kExtraTokens, sizeof(int64_t));
  extra_bonus_ = add(room.extra * kExtraTokens, sizeof(float));
  host_ = at::zeros({layout.bytes()}, at::TensorOptions(at::kByte).pinned_memory(place_.device.is_cuda()));
  device_ = at::zeros({layout.bytes()}, place_.of(at::kByte));
  parts_ = at::zeros({room.parts}, place_.of(at::kFloat));
  room_ = room;
}

at::Tensor CudaStep::longs(Offset offset, int64_t count) const {
  // from_blob() takes a pointer to what may be written; nothing writes.
  return at::from_blob(const_cast<int64_t*>(at<int64_t>(offset)), {count}, place_.of(at::kLong));
}

// Padding is token 0 at position 0 of a sequence, sees nothing, and goes to slots of its own.
void CudaStep::fill_rows(const Step& step, const Plan& plan) {
  auto *token = host_at<int64_t>(token_), *long_slot = host_at<int64_t>(long_slot_), *parent = host_at<int64_t>(parent_slot_);
  auto *position = host_at<int32_t>(position_), *slot = host_at<int32_t>(slot_), *sequence = host_at<int32_t>(sequence_);
  auto *visible = host_at<int32_t>(visible_), *first_part = host_at<int32_t>(first_part_);
  auto* ancestors = host_at<uint64_t>(ancestors_);
  const size_t rows = step.token.size();
  for (size_t row = 0; row < static_cast<size_t>(plan.shape.rows); ++row) {
    const bool real = row < rows;
    const auto padding = static_cast<int32_t>(row - rows);
    token[row] = real ? step.token[row] : 0;
    slot[row] = real ? step.slot[row] : plan.padding_slot + padding;
    long_slot[row] = slot[row];
    parent[row] = real ? step.parent_slot[row] : -1;
    position[row] = real ? step.position[row] : 0;
    sequence[row] = real ? step.sequence[row] : 0;
    visible[row] = real ? step.visible[row] : 0;
    ancestors[row] = real ? step.ancestors[row] : 0;
    first_part[row] = real ? plan_.first_part[row] : 0;
  }
}

// Padding is the first row once more, greedily.
void CudaStep::fill_wanted(const Step& step, const Plan& plan) {
  auto* wanted = host_at<int64_t>(long_wanted_);
  auto* rules = host_at<cuda::RowRule>(rules_);
  for (size_t row = 0; row < static_cast<size_t>(plan.shape.wanted); ++row) {
    const bool real = row < step.wanted.size();
    wanted[row] = real ? step.wanted[row] : 0;
    rules[row] = real ? rule_of(step.sampling[row]) : cuda::RowRule{.temperature = 0};
  }
}

void CudaStep::fill_tables(const Step& step) {
  auto* items = host_at<cuda::AttendItem>(items_);
  std::ranges::copy(plan_.items, items);
  std::fill(items + plan_.items.size(), items + items_count_, cuda::AttendItem{});
  auto* moves = host_at<int32_t>(moves_);
  for (const KvMove& each : step.moves) *moves++ = each.from, *moves++ = each.to;
  auto* table = host_at<int32_t>(table_);
  const auto wide = static_cast<size_t>(step.blocks_max);
  for (size_t at = 0; at < step.block_table.size(); at += wide, table += room_.blocks) {
    std::ranges::copy(step.block_table.subspan(at, wide), table);
  }
}

// Rows of padding have none.
void CudaStep::copy_extra(const Step& step, const Plan& plan) {
  torch_.extra_token = torch_.extra_bonus = at::Tensor();
  if (step.extra.empty()) return;
  auto* tokens = host_at<int64_t>(extra_token_);
  auto* bonuses = host_at<float>(extra_bonus_);
  const int64_t rows = plan.shape.rows, count = rows * kExtraTokens;
  std::fill_n(tokens, count, -1);
  std::fill_n(bonuses, count, 0.0F);
  write_extra(step.extra, tokens, bonuses);
  auto* to = device_.mutable_data_ptr<uint8_t>();
  kernels_.copy(to + extra_token_, tokens, static_cast<size_t>(count) * sizeof(int64_t));
  kernels_.copy(to + extra_bonus_, bonuses, static_cast<size_t>(count) * sizeof(float));
  torch_.extra_token = longs(extra_token_, count).view({rows, kExtraTokens});
  torch_.extra_bonus = at::from_blob(to + extra_bonus_, {rows, kExtraTokens}, place_.of(at::kFloat));
}

bool CudaStep::begin(const Step& step, const Plan& plan) {
  cuda::plan_attend({.sequence = step.sequence, .visible = step.visible, .ancestors = step.ancestors}, plan.group, plan_);
  const auto items = static_cast<int64_t>(plan_.items.size());
  items_count_ = static_cast<int32_t>(plan.graph ? grown(0, std::max<int64_t>(1, items)) : items);
  const int64_t sequences = step.blocks_max == 0 ? 0 : static_cast<int64_t>(step.block_table.size()) / step.blocks_max;
  const Room need{.rows = plan.shape.rows,
                  .wanted = plan.shape.wanted,
                  .moves = static_cast<int64_t>(step.moves.size()),
                  .items = items_count_,
                  .parts = int64_t{plan_.parts} * plan.part_floats,
                  .sequences = sequences,
                  .blocks = step.blocks_max,
                  .extra = step.extra.empty() ? 0 : plan.shape.rows};
  const bool stays = room_.holds(need);
  if (!stays) lay_out(room_.grown_to(need));
  fill_rows(step, plan);
  fill_wanted(step, plan);
  fill_tables(step);
  const int64_t used = table_ + sequences * room_.blocks * static_cast<int64_t>(sizeof(int32_t));
  kernels_.copy(device_.mutable_data_ptr(), host_.const_data_ptr(), static_cast<size_t>(used));
  copy_extra(step, plan);
  torch_.host = &step;
  torch_.token = longs(token_, plan.shape.rows);
  torch_.slot = longs(long_slot_, plan.shape.rows);
  torch_.parent_slot = longs(parent_slot_, plan.shape.rows);
  torch_.wanted = longs(long_wanted_, plan.shape.wanted);
  return stays;
}

void CudaStep::describe(cuda::AttendArgs& args) const {
  args.sequence = at<int32_t>(sequence_);
  args.visible = at<int32_t>(visible_);
  args.ancestors = at<uint64_t>(ancestors_);
  args.block_table = at<int32_t>(table_);
  args.items = at<cuda::AttendItem>(items_);
  args.first_part = at<int32_t>(first_part_);
  args.parts = parts_.mutable_data_ptr<float>();
  args.blocks_max = static_cast<int32_t>(room_.blocks);
  args.items_count = items_count_;
}

}  // namespace slipstream
