#include "common/model/cpu/cpu_ops.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <tuple>

#include "common/base/check.h"
#include "common/kv/block_pool.h"

namespace slipstream {
namespace {

static_assert(kCacheRows == kBlockTokens, "a cache block of the kernels is one of the block tables");

const CpuWeight& cpu(const Weight& weight) { return static_cast<const CpuWeight&>(weight); }

template <class Element>
Element* head_of(const CpuCache& cache, int layer, int32_t slot, int32_t head) {
  return reinterpret_cast<Element*>(cache.head(layer, slot / kCacheRows, head));
}

// Writes the keys and values of all heads of one row to a slot. Element: the element type of the
// cache. keys: [kv_heads, head_size], followed by the values.
template <class Element>
void store_row(const CpuCache& cache, int layer, int32_t slot, const Element* keys) {
  const auto [heads, kv_heads, size] = cache.shape;
  const int32_t position = slot % kCacheRows;
  for (int32_t head = 0; head < kv_heads; ++head) {
    auto* block = head_of<Element>(cache, layer, slot, head);
    const Element* key = keys + int64_t{head} * size;
    const Element* value = key + int64_t{kv_heads} * size;
    for (int32_t d = 0; d < size; ++d) block[cache.layout.key(position, d)] = key[d];
    for (int32_t d = 0; d < size; ++d) block[cache.layout.value(position, d)] = value[d];
  }
}

// Copies element by element: within a block, neighbours in a row are not neighbours in memory.
template <class Element>
void move_row(const CpuCache& cache, int layer, const KvMove& move) {
  const CacheLayout& layout = cache.layout;
  const int32_t from = move.from % kCacheRows, to = move.to % kCacheRows;
  for (int32_t head = 0; head < cache.shape.kv_heads; ++head) {
    const auto* source = head_of<Element>(cache, layer, move.from, head);
    auto* target = head_of<Element>(cache, layer, move.to, head);
    for (int32_t d = 0; d < layout.head_size; ++d) target[layout.key(to, d)] = source[layout.key(from, d)];
    for (int32_t d = 0; d < layout.head_size; ++d) target[layout.value(to, d)] = source[layout.value(from, d)];
  }
}

// Of the panels [begin, end). bias: [out_cols]
void add_bias(const LinearArgs& args, const float* bias, int32_t begin, int32_t end) {
  const int32_t last = std::min(end * kPanelRows, args.out_cols);
  for (int32_t row = 0; row < args.rows; ++row) {
    for (int32_t col = begin * kPanelRows; col < last; ++col) args.out[row * args.out_stride + col] += bias[col];
  }
}

}  // namespace

CpuOps::CpuOps(const Kernels& kernels, int threads)
    : kernels_(kernels),
      pool_(threads),
      attention_(kernels, pool_),
      activations_(kernels, pool_),
      two_terms_(kernels, pool_),
      screened_(kernels, pool_),
      extra_(kernels, pool_),
      scratch_(static_cast<size_t>(threads)) {
  for (Scratch& each : scratch_) each.choose.chain.kernels = &vocabulary_kernels(kernels.path);
}

// Sizes for the largest network of the device: its ops share the scratch.
void CpuOps::reserve_rows(int32_t rows_max) {
  rows_max_ = std::max(rows_max_, rows_max);
  attention_.reserve_rows(rows_max_);
  activations_.reserve(rows_max_, cols_max_);
  two_terms_.reserve(rows_max_, cols_max_);
  for (Scratch& each : scratch_) each.sums.resize(two_term_sums(rows_max_));
}

void CpuOps::reserve_columns(int32_t in_cols) {
  cols_max_ = std::max(cols_max_, in_cols);
  reserve_rows(rows_max_);
}

void CpuOps::reserve_context(int32_t positions, const AttentionShape& shape) {
  attention_.reserve(positions, shape);
  const auto numbers = static_cast<size_t>(2 * shape.kv_heads * shape.head_size);
  for (Scratch& each : scratch_) each.rounded.resize(std::max(each.rounded.size(), numbers));
}

void CpuOps::begin(const Step& step) {
  step_ = &step;
  attention_.begin(step);
}

// Moves of a layer run in order, because one may overwrite the source of an earlier one
// (BlockTable::commit). Layers are independent of each other, so they are split over the threads.
void CpuOps::move(const CpuCache& cache, std::span<const KvMove> moves) {
  if (moves.empty()) return;
  pool_.run(cache.layers, 4, [&](int32_t begin, int32_t end, int) {
    for (int layer = begin; layer < end; ++layer) {
      for (const KvMove& each : moves) {
        cache.layout.format == CacheFormat::f32 ? move_row<float>(cache, layer, each) : move_row<uint16_t>(cache, layer, each);
      }
    }
  });
}

// Not split: the moves of a step are few.
void CpuOps::move(const CpuPlane& plane, std::span<const KvMove> moves) {
  for (const KvMove& each : moves) std::copy_n(plane.row(each.from), plane.cols, plane.row(each.to));
}

void CpuOps::embed(const Weight& table, float scale, Tensor out) {
  const std::vector<CpuPanels>& parts = cpu(table).parts;
  CHECK(parts.size() == 1, "an embedding table of {} parts", parts.size());
  const auto [panels, format, rows] = parts.front();
  const PanelLayout layout = linear_kernel(kernels_, format).layout;
  pool_.run(out.rows, grain_for(kRangeElements, out.cols), [&](int32_t begin, int32_t end, int) {
    for (int32_t row = begin; row < end; ++row) {
      float* to = row_of(out, row);
      unpack_row(format, layout, panels, table.in, step_->token[static_cast<size_t>(row)], to);
      for (int32_t col = 0; scale != 1 && col < out.cols; ++col) to[col] *= scale;
    }
  });
}

void CpuOps::add_rms_norm(Tensor residual, const Tensor* delta, const Weight& gain, float eps, Tensor out) {
  pool_.run(out.rows, grain_for(kRangeElements, out.cols), [&](int32_t begin, int32_t end, int) {
    for (int32_t row = begin; row < end; ++row) {
      kernels_.add_rms_norm({.residual = row_of(residual, row),
                             .delta = delta != nullptr ? row_of(*delta, row) : nullptr,
                             .gain = cpu(gain).gain,
                             .out = row_of(out, row),
                             .cols = out.cols,
                             .eps = eps});
    }
  });
}

void CpuOps::linear(Tensor in, const Weight& weight, const Weight* bias, Tensor out) { multiply(in, weight, bias, out, false); }

void CpuOps::linear_fine(Tensor in, const Weight& weight, const Weight* bias, Tensor out) {
  multiply(in, weight, bias, out, true);
}

// Split by panels, not by rows: every thread then reads its own part of the weights, once. The bias
// is added while the thread's columns are in its cache.
void CpuOps::multiply(Tensor in, const Weight& weight, const Weight* bias, Tensor out, bool fine) {
  CHECK(in.cols == weight.in && out.cols == weight.out && in.rows == out.rows, "linear [{}, {}] -> [{}, {}] by [{}, {}]",
        in.rows, in.cols, out.rows, out.cols, weight.out, weight.in);
  std::optional<Activations> kind;  // of the rows as they are rounded now
  ReadRows read;
  TwoTerms terms;
  int32_t first = 0;
  for (const CpuPanels& part : cpu(weight).parts) {
    const LinearKernel& kernel = linear_kernel(kernels_, part.format);
    const bool two = fine && kernel.in == Activations::int8;
    if (kernel.in != kind) {  // parts that read the same form share it, of one term or of two
      kind = kernel.in;
      if (two) {
        terms = two_terms_.round_joined(in);
      } else {
        read = activations_.round(in, *kind);
      }
    }
    const LinearArgs args{.panels = part.panels,
                          .out = row_of(out, 0) + first,
                          .out_stride = out.cols,
                          .rows = in.rows,
                          .in_cols = in.cols,
                          .out_cols = part.rows};
    const float* offset = bias != nullptr ? cpu(*bias).gain + first : nullptr;
    const int32_t panels = panels_of(part.rows);
    pool_.run(panels, panels_at_once(panels, pool_.threads()), [&](int32_t begin, int32_t end, int thread) {
      if (two) {
        run_two_terms(kernel, part.format, args, terms, begin, end, scratch_[static_cast<size_t>(thread)].sums);
      } else {
        kernel.run(with_rows(args, read), begin, end);
      }
      if (offset != nullptr) add_bias(args, offset, begin, end);
    });
    first += part.rows;
  }
}

void CpuOps::norm_heads(Tensor rows, int32_t first_head, int32_t heads, const Weight& gain, float eps) {
  const int32_t size = gain.in;
  pool_.run(rows.rows, grain_for(kRangeElements, heads * size), [&](int32_t begin, int32_t end, int) {
    for (int32_t row = begin; row < end; ++row) {
      for (int32_t head = first_head; head < first_head + heads; ++head) {
        float* at = row_of(rows, row) + int64_t{head} * size;
        kernels_.add_rms_norm({.residual = at, .delta = nullptr, .gain = cpu(gain).gain, .out = at, .cols = size, .eps = eps});
      }
    }
  });
}

// Rotates a row and stores it while it is in the thread's cache. Rows have distinct slots, so
// threads never write to the same place.
void CpuOps::rope_store(Tensor qkv, const RopeTable& rope, KvCache& cache, int layer) {
  const auto& table = static_cast<const CpuRope&>(rope);
  const auto& store = static_cast<const CpuCache&>(cache);
  const int32_t kv_heads = store.shape.kv_heads, size = store.shape.head_size, heads = qkv.cols / size - 2 * kv_heads;
  pool_.run(qkv.rows, grain_for(kRangeElements, qkv.cols), [&](int32_t begin, int32_t end, int thread) {
    for (int32_t row = begin; row < end; ++row) {
      const auto angle = static_cast<size_t>(step_->position[static_cast<size_t>(row)]) * static_cast<size_t>(table.half);
      float* values = row_of(qkv, row);
      for (int32_t head = 0; head < heads + kv_heads; ++head) {
        kernels_.rope(values + int64_t{head} * size, table.cosine.data() + angle, table.sine.data() + angle, table.half);
      }
      const int32_t slot = step_->slot[static_cast<size_t>(row)];
      const float* keys = values + int64_t{heads} * size;
      if (store.layout.format == CacheFormat::f32) {
        store_row(store, layer, slot, keys);
      } else {
        auto& rounded = scratch_[static_cast<size_t>(thread)].rounded;
        kernels_.to_bf16(keys, 2 * kv_heads * size, rounded.data());
        store_row(store, layer, slot, rounded.data());
      }
    }
  });
}

void CpuOps::attend(Tensor qkv, const KvCache& cache, int layer, const AttentionRules& rules, Tensor out) {
  attention_.run(qkv, {static_cast<const CpuCache&>(cache), layer, rules}, out);
}

void CpuOps::silu_gate(Tensor gate_up, Tensor out) {
  pool_.run(out.rows, grain_for(kRangeElements, gate_up.cols), [&](int32_t begin, int32_t end, int) {
    for (int32_t row = begin; row < end; ++row) kernels_.silu_gate(row_of(gate_up, row), out.cols, row_of(out, row));
  });
}

void CpuOps::gelu_gate(Tensor gate_up, Tensor out) {
  pool_.run(out.rows, grain_for(kRangeElements, gate_up.cols), [&](int32_t begin, int32_t end, int) {
    for (int32_t row = begin; row < end; ++row) kernels_.gelu_gate(row_of(gate_up, row), out.cols, row_of(out, row));
  });
}

// Split within rows: they are few and as long as a vocabulary.
void CpuOps::soft_cap(Tensor rows, float cap) {
  constexpr auto kPart = static_cast<int32_t>(kRangeElements);
  const int32_t parts = (rows.cols + kPart - 1) / kPart;
  pool_.run(rows.rows * parts, 1, [&](int32_t begin, int32_t end, int) {
    for (int32_t i = begin; i < end; ++i) {
      const int32_t first = i % parts * kPart;
      kernels_.soft_cap(row_of(rows, i / parts) + first, std::min(kPart, rows.cols - first), cap);
    }
  });
}

void CpuOps::add_silu(Tensor in, Tensor residual) {
  pool_.run(in.rows, grain_for(kRangeElements, in.cols), [&](int32_t begin, int32_t end, int) {
    for (int32_t row = begin; row < end; ++row) kernels_.add_silu(row_of(in, row), in.cols, row_of(residual, row));
  });
}

void CpuOps::put_columns(Tensor in, Tensor out, int32_t first_column) {
  CHECK(in.rows == out.rows && first_column + in.cols <= out.cols, "[{}, {}] into [{}, {}] from column {} on", in.rows, in.cols,
        out.rows, out.cols, first_column);
  pool_.run(in.rows, grain_for(kRangeElements, in.cols), [&](int32_t begin, int32_t end, int) {
    for (int32_t row = begin; row < end; ++row) {
      std::memcpy(row_of(out, row) + first_column, row_of(in, row), static_cast<size_t>(in.cols) * sizeof(float));
    }
  });
}

// Every row is stored before one is loaded, so the rows of a pass see each other's features.
void CpuOps::store_features(Tensor in, FeaturePlane& plane) {
  const auto& store = static_cast<const CpuPlane&>(plane);
  pool_.run(in.rows, grain_for(kRangeElements, in.cols), [&](int32_t begin, int32_t end, int) {
    for (int32_t row = begin; row < end; ++row) {
      std::copy_n(row_of(in, row), in.cols, store.row(step_->slot[static_cast<size_t>(row)]));
    }
  });
}

void CpuOps::load_features(const FeaturePlane& plane, Tensor out) {
  const auto& store = static_cast<const CpuPlane&>(plane);
  pool_.run(out.rows, grain_for(kRangeElements, out.cols), [&](int32_t begin, int32_t end, int) {
    for (int32_t row = begin; row < end; ++row) {
      const int32_t slot = step_->parent_slot[static_cast<size_t>(row)];
      if (slot < 0) {
        std::fill_n(row_of(out, row), out.cols, 0.0F);
      } else {
        std::copy_n(store.row(slot), out.cols, row_of(out, row));
      }
    }
  });
}

void CpuOps::linear_extra(Tensor in, const Weight& weight, Tensor out) { extra_.run(in, cpu(weight), step_->extra, out); }

void CpuOps::spread_columns(Tensor in, const ColumnMap& map, const Tensor* extra, Tensor out) {
  const std::vector<int32_t>& columns = static_cast<const CpuColumnMap&>(map).columns;
  pool_.run(in.rows, 1, [&](int32_t begin, int32_t end, int) {
    for (int32_t row = begin; row < end; ++row) {
      float* wide = row_of(out, row);
      std::fill_n(wide, out.cols, -std::numeric_limits<float>::infinity());
      const float* narrow = row_of(in, row);
      for (size_t column = 0; column < columns.size(); ++column) wide[columns[column]] = narrow[column];
      if (extra == nullptr) continue;
      const float* more = row_of(*extra, row);
      for (const ExtraToken& each : extra_of(*step_, row)) wide[each.token] = *more++;
    }
  });
}

// Not split: the wanted rows are few and short.
void CpuOps::gather(Tensor in, Tensor out) {
  for (int32_t row = 0; row < out.rows; ++row) {
    std::memcpy(row_of(out, row), row_of(in, step_->wanted[static_cast<size_t>(row)]),
                static_cast<size_t>(out.cols) * sizeof(float));
  }
}

std::span<const float> CpuOps::to_choose_from(Tensor logits, int32_t row, int thread) {
  const std::span<const float> own(row_of(logits, row), static_cast<size_t>(logits.cols));
  return processed(*step_, row, own, scratch_[static_cast<size_t>(thread)].processed);
}

// One row a range: a vocabulary is long enough to pay for the claim.
void CpuOps::sample_tokens(Tensor logits, Tensor ids) {
  pool_.run(logits.rows, 1, [&](int32_t begin, int32_t end, int thread) {
    for (int32_t row = begin; row < end; ++row) {
      static_cast<int32_t*>(ids.data)[row] =
          slipstream::sample_token(to_choose_from(logits, row, thread), step_->sampling[static_cast<size_t>(row)],
                                   scratch_[static_cast<size_t>(thread)].choose);
    }
  });
}

bool CpuOps::screens(int32_t rows) const {
  return !step_->logits_read && step_->processed.empty() && rows <= kernels_.screened_rows_best &&
         std::ranges::all_of(step_->sampling, [](const RowSampling& row) { return row.params.temperature == 0; });
}

void CpuOps::sample_screened(Tensor in, const Weight& head, const OutputScreen& screen, Tensor logits, Tensor ids) {
  if (!screens(in.rows)) return Ops::sample_screened(in, head, screen, logits, ids);
  screened_.run(two_terms_.round(in), cpu(head).parts.front(), static_cast<const CpuScreen&>(screen), logits);
  sample_tokens(logits, ids);
}

// Ranks each row: by(row, thread, ranked) fills the row's candidates.
template <class By>
void CpuOps::rank_rows(Tensor out, const By& by) {
  const auto columns = static_cast<size_t>(out.cols / kRankedWords);
  pool_.run(out.rows, 1, [&](int32_t begin, int32_t end, int thread) {
    for (int32_t row = begin; row < end; ++row) {
      const auto ranked = std::span(reinterpret_cast<Ranked*>(row_of(out, row)), columns);
      std::ranges::fill(ranked, Ranked{});
      by(row, thread, ranked);
    }
  });
}

void CpuOps::rank(Tensor logits, Tensor out) {
  rank_rows(out, [&](int32_t row, int thread, std::span<Ranked> ranked) {
    slipstream::rank(to_choose_from(logits, row, thread), step_->sampling[static_cast<size_t>(row)],
                     scratch_[static_cast<size_t>(thread)].choose, ranked);
  });
}

void CpuOps::rank_columns(Tensor in, const ColumnMap& map, const Tensor* extra, Tensor logits, Tensor out) {
  const auto& columns = static_cast<const CpuColumnMap&>(map);
  if (!step_->processed.empty() || !columns.ascending) return Ops::rank_columns(in, map, extra, logits, out);
  rank_rows(out, [&](int32_t row, int thread, std::span<Ranked> ranked) {
    Scratch& own = scratch_[static_cast<size_t>(thread)];
    std::span<const float> scored(row_of(in, row), columns.columns.size());
    std::span<const TokenId> tokens = columns.columns;
    if (extra != nullptr) std::tie(scored, tokens) = own.joined.of(scored, tokens, extra_of(*step_, row), row_of(*extra, row));
    slipstream::rank(scored, tokens, map.wide, step_->sampling[static_cast<size_t>(row)], own.choose, ranked);
  });
}

}  // namespace slipstream
