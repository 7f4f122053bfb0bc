// A draft head as EAGLE-3 has it (2503.01840, Section 3.1; the decoder layer that reads embedding
// and feature side by side is EAGLE's, 2401.15077, Section 3): one decoder layer that guesses the
// next tokens from what the target computed anyway.
//
//   f_j           = fc(the taps of token j)                          the target's feature
//   x_i           = [norm(embedding of token i), norm(f_(i-1))]      a row reads the feature before it
//   h_i           = f_(i-1) + attention(x)_i;  g_i = h_i + mlp(norm(h_i))
//   logits_(i+1)  = lm_head(norm(g_i))                               over the columns of HeadConfig::tokens, and over
//                                                                    the row's extra tokens (ops.h) by the target's
//                                                                    output layer, if the head's rows are of it
//   acceptance of token i by norm(g_i), if there is an acceptance head (acceptance_head.h)
//
// Behind the newest token there is no feature of the target yet, so a draft row below another one
// reads g of that row in place of f.
//
// Keys and values of row i lie at the slot of token i, in a cache of one layer, and f_i in a
// feature plane at the same slot. Both share the blocks of the target's cache, so commits,
// preemption and prefix hits carry them (docs/design/adr/0016). That row i needs no token behind it
// keeps a block's content a matter of its own tokens alone.
//
// It runs in two places:
//
//   observe()    at the end of the target's pass, for all its rows: features, keys and values
//   draft()      in a pass of its own, for rows of draft trees; all rows are wanted
//
// These may also be two processes (HeadPart): one keeps the features, the other gets them
// (common/messages/draft.h), and computes keys and values from them in place of the target's pass:
//
//   observe_kept()   for rows whose features were written into the plane
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "common/checkpoint/head_config.h"
#include "common/model/device.h"
#include "common/model/heads/acceptance_head.h"
#include "common/model/llama.h"

namespace slipstream {

// What of a head a process has.
enum class HeadPart : uint8_t {
  whole,
  features,  // of its target's tokens, for another process: fc and the plane
  drafts     // all but fc: the features come from another process
};

struct EagleHeadOptions {
  HeadPart part = HeadPart::whole;
  int32_t rows_max = 0;      // of a pass
  int32_t cache_blocks = 0;  // of the target's cache
  int32_t positions = 0;     // of one sequence
  int32_t ranked = 0;        // candidates per row
  bool traced = false;       // states() is asked for
  uint64_t hash = 0;         // draft_head_hash()
};

class EagleHead {
 public:
  // Packs the head beside its target, whose features() are the head's taps. The device owns all of
  // it. Of the target it reads embedding and output alone. REQUIRES: config fits the target
  // (head_fits()).
  static Result<EagleHead> load(const std::filesystem::path& folder, const HeadConfig& config, const Llama& target,
                                Device& device, const EagleHeadOptions& options);

  // Reads the features of the target's pass, whose rows have just been computed.
  void observe(Ops& ops, Shape shape, Tensor features) const;
  // Keys and values of rows, where the features of the tokens before them lie in the plane.
  void observe_kept(Ops& ops, Shape shape) const;
  // Drafts: ranks the tokens that may follow each row of a tree. scored: logits() are read, too.
  void draft(Ops& ops, Shape shape, bool scored) const;

  Tensor ranked() const { return buffers_.ranked; }  // [rows_max, ranked * kRankedWords]
  // Of the last draft.
  Tensor states() const { return buffers_.states; }  // [rows_max, hidden] norm(g_i); no data but for EagleHeadOptions::traced
  Tensor logits() const { return buffers_.logits; }  // [rows_max, vocabulary] of a draft whose rows were scored
  const std::optional<AcceptanceHead>& acceptance() const { return acceptance_; }
  bool takes_extra() const { return target_output_ != nullptr; }
  bool drafts() const { return part_ != HeadPart::features; }
  KvCache* cache() const { return cache_; }  // null: it does not draft
  FeaturePlane* plane() const { return plane_; }

 private:
  struct Buffers {
    Tensor fused, embedded, feature, normed, delta;  // [rows, hidden]
    Tensor input, qkv, kv, heads;                    // [rows, 2 hidden], [rows, (heads + 2 kv_heads) head_size], ...
    Tensor gate_up, gated;                           // [rows, 2 intermediate], [rows, intermediate]
    Tensor columns, logits, ranked;                  // [rows, columns], [rows, vocabulary], [rows, candidates]
    Tensor extra;                                    // [rows, kExtraTokens]
    Tensor states;                                   // [rows, hidden]
  };

  Result<void> load_weights(const std::filesystem::path& folder, const HeadConfig& config, Device& device);
  Result<void> make_buffers(const HeadConfig& config, Device& device, const EagleHeadOptions& options);
  Buffers cut(int32_t rows) const;  // views of the buffers' first rows
  void read(Ops& ops, const Buffers& at) const;

  HeadPart part_ = HeadPart::whole;
  float eps_ = 0;
  const Weight* embedding_ = nullptr;      // the target's
  const Weight* target_output_ = nullptr;  // null: its other tokens are not drafted
  Weight *fc_ = nullptr, *embedding_norm_ = nullptr, *feature_norm_ = nullptr, *attention_out_ = nullptr;
  Weight *qkv_ = nullptr, *kv_ = nullptr;  // a row that is observed only has no query
  Weight *mlp_norm_ = nullptr, *gate_up_ = nullptr, *down_ = nullptr, *final_norm_ = nullptr, *head_ = nullptr;
  RopeTable* rope_ = nullptr;
  KvCache* cache_ = nullptr;
  FeaturePlane* plane_ = nullptr;
  ColumnMap* columns_ = nullptr;
  std::optional<AcceptanceHead> acceptance_;
  Buffers buffers_;
};

// Whether a head fits a target: sizes, taps and, if the head says it, the weights that it was
// trained for. Errors say what differs.
Result<void> head_fits(const HeadConfig& head, const LlamaConfig& target, uint64_t target_weights, const std::string& folder);

}  // namespace slipstream
