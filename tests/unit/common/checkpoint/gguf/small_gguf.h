// A whole little llama in GGUF: good() as it is, for tests to spoil.
#pragma once

#include <string>
#include <vector>

#include "tests/data/gguf_writer.h"

namespace slipstream {

struct SmallGguf {
  std::string architecture = "llama", pre = "smollm", kind = "gpt2";
  std::vector<std::string> tokens{"<|end|>", "<tool>", "a", "b", "ab", "\xC4\xA0", "1", "[PAD7]"};
  std::vector<int32_t> types{3, 4, 1, 1, 1, 1, 1, 5};
  std::vector<std::string> merges{"a b"};
};

// Without tensors: the fields of `made`, and those of `also`.
inline GgufWriter small_fields(const SmallGguf& made = {}) {
  GgufWriter writer;
  const std::string at = made.architecture + ".";
  writer.text("general.architecture", made.architecture).u32(at + "block_count", 1).u32(at + "context_length", 64);
  writer.u32(at + "embedding_length", 32).u32(at + "feed_forward_length", 32).u32(at + "attention.head_count", 2);
  writer.u32(at + "attention.head_count_kv", 1).f32(at + "attention.layer_norm_rms_epsilon", 1e-5F);
  writer.text("tokenizer.ggml.model", made.kind).text("tokenizer.ggml.pre", made.pre);
  writer.texts("tokenizer.ggml.tokens", made.tokens).i32s("tokenizer.ggml.token_type", made.types);
  writer.texts("tokenizer.ggml.merges", made.merges);
  writer.text("tokenizer.chat_template", "{{ messages[0].content }}{{ eos_token }}");
  return writer;
}

inline void add_small_tensors(GgufWriter& writer, uint64_t tokens = 8) {
  const auto bf16 = [&](const std::string& name, uint64_t rows) {
    writer.tensor(name, 30, {rows, 32}, std::string(rows * 64, '\x3D'));
  };
  const auto f32 = [&](const std::string& name) { writer.tensor(name, 0, {32}, std::string(128, '\x3D')); };
  bf16("token_embd.weight", tokens);
  f32("output_norm.weight");
  f32("blk.0.attn_norm.weight");
  f32("blk.0.ffn_norm.weight");
  writer.tensor("blk.0.attn_q.weight", 8, {32, 32}, std::string(32 * 34, '\1'));
  writer.tensor("blk.0.attn_k.weight", 2, {16, 32}, std::string(16 * 18, '\1'));
  writer.tensor("blk.0.attn_v.weight", 3, {16, 32}, std::string(16 * 20, '\1'));
  for (const char* name : {"attn_output", "ffn_gate", "ffn_up", "ffn_down"}) bf16(std::string("blk.0.") + name + ".weight", 32);
}

inline GgufWriter small_gguf(const SmallGguf& made = {}) {
  GgufWriter writer = small_fields(made);
  writer.u32("tokenizer.ggml.eos_token_id", 0);
  add_small_tensors(writer);
  return writer;
}

}  // namespace slipstream
