// The forward pass of a draft head, with gradients, unrolled as it drafts: EAGLE-3's
// training-time test (arXiv 2503.01840, section 3.2).
//
//   fused_j = fc(features of token j); fused_-1 = 0
//   step 0: row i reads fused_{i-1} and the embedding of token i
//   step s: row i reads out_{s-1} of row i-1 in place of a feature, for a draft whose last s tokens
//           were drafted
//
//   residual = what the row reads beside the embedding
//   h    = residual + o_proj(attention(q, k, v of concat(norm(embedding), norm(residual))))
//   out  = h + mlp(norm(h));   logits = lm_head(norm(out)) predict token i+1
//
// At step s, row i sees the keys of step 0 at the positions <= i-s, and those of step m at i-s+m
// for m = 1 ... s: its own last. The rotary position of row i is i at every step.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <ATen/core/Tensor.h>

#include "tools/train/head_config.h"
#include "tools/train/rotary.h"
#include "tools/train/weights.h"

namespace slipstream::train {

// Chats of one length are computed at once. A shorter one is filled up behind its end: no row sees
// what is behind it, so its own rows stay what they are.
struct HeadInput {
  at::Tensor features;    // [chats, tokens, taps * hidden] f32
  at::Tensor embeddings;  // [chats, tokens, hidden] f32
  int64_t first = 0;      // rows before it are context: they have keys and values, and no result
};

class DraftHead {
 public:
  // Shares the tensors of `weights` (head_tensors()), and computes on their device. tokens_max: of
  // an input. Matrices and attention are computed in `compute`, kFloat or kBFloat16, and all else
  // in f32.
  DraftHead(const HeadConfig& config, const Weights& weights, int64_t tokens_max, at::ScalarType compute);

  // out_s of the rows [first, tokens), for each step s < steps: [chats, tokens - first, hidden]
  // f32. That of row i counts if i - s >= first or first is 0: only then the rows it reads are
  // there.
  std::vector<at::Tensor> unroll(const HeadInput& input, int steps) const;
  // out: [..., hidden]. Returns what the output head reads: as many, f32.
  at::Tensor normed(const at::Tensor& out) const;
  // The output head, [draft vocabulary, hidden]: in the type of computing if it is not trained.
  // Converting it takes as long as some hundred rows of it.
  at::Tensor output() const;
  // normed: [..., hidden]; output: output(). Returns [..., draft vocabulary] f32.
  at::Tensor logits(const at::Tensor& normed, const at::Tensor& output) const;

 private:
  struct Matrices {
    at::Tensor fuse, query, key, value, output, gate, up, down;
  };
  struct Cache {
    at::Tensor key, value;  // [chats * kv_heads, rows, head_size]
  };
  struct Rows {
    at::Tensor embedding, residual;  // [chats, rows, hidden]: normed, and as it is
    int64_t position = 0;            // of the first
  };
  // One unrolling: its matrices in the type of computing, which all its steps share.
  struct Unrolling {
    Matrices matrices;
    std::vector<Cache> caches;  // of the steps until now
  };
  Matrices computing() const;
  at::Tensor projected(const at::Tensor& x, const at::Tensor& weight, int64_t heads) const;
  at::Tensor attention_input(const Rows& rows) const;
  Cache cache_of(const Matrices& matrices, const at::Tensor& input, int64_t position) const;
  at::Tensor attend(const at::Tensor& query, std::span<const Cache> steps, int64_t first) const;
  at::Tensor block(const Unrolling& unrolling, const Rows& rows, const at::Tensor& input) const;

  int64_t hidden_, heads_, kv_heads_, head_size_;
  double eps_;
  at::ScalarType compute_;
  Matrices trained_;
  at::Tensor embedding_norm_, residual_norm_, mlp_norm_, norm_, head_;
  Rotary rotary_;
};

}  // namespace slipstream::train
