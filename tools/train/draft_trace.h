// A draft trace: chats that a target wrote, with what a drafter, its draft head or a small model,
// would have drafted behind each of their tokens, and what became of it. An acceptance head is
// trained on such traces, and rules that stop drafts are compared on them offline: since drafts
// never change a word, every rule of how deep to draft can be replayed on one trace
// (research/specdec).
//
//   header      corpus/sealed_file.h, magic SLIPDRAF
//   TraceOrigin, TraceCounts
//   [chats + 1] int64    where each chat's drafts begin; the last: all drafts
//   [drafts + 1] int64   where each draft's nodes begin; the last: all nodes
//   [nodes] DraftedNode
//   [nodes, hidden] bf16 the drafter's last hidden state after it has read the node
//
// Draft j of a chat hangs from the token before token j of its answer. It is a chain: each node is
// the drafter's first choice behind the one before, whatever the target chose. It ends at the
// trace's depth, or at the answer's end, since nobody knows what the target would have chosen
// behind it.
//
// The file is mapped. Immutable; thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/checkpoint/mapped_file.h"

namespace slipstream::train {

// Whose drafts these are.
struct TraceOrigin {
  uint64_t target = 0, drafter = 0;  // hashes of their weights (fingerprint.h, draft_head_hash())
  int32_t hidden = 0;                // of the drafter
  int32_t depth = 0;                 // of a draft, at most
  float temperature = 0;             // of the answers; 0: greedy
  int32_t unused = 0;
  uint64_t seed = 0;  // of the first chat's noise; each later chat's is one more
  bool operator==(const TraceOrigin&) const = default;
};

struct DraftedNode {
  float confidence = 0;  // as the drafter stated it for this token (sampling/rank.h)
  float entropy = 0;     // nats, of what the drafter gave all tokens at this place (sampling/entropy.h)
  int32_t matched = 0;   // 1: the target chose this token at its place, after its own tokens
};

// A chain of nodes. It is accepted as far as all its nodes matched.
struct Draft {
  std::span<const DraftedNode> nodes;
  std::span<const uint16_t> states;  // [nodes, hidden] bf16
};

class DraftTrace {
 public:
  // Reads the whole file once, to check it. Errors name the file and say what is wrong with it.
  static Result<DraftTrace> open(const std::filesystem::path& path);

  const TraceOrigin& origin() const { return origin_; }
  size_t chats() const { return chats_.size() - 1; }
  size_t drafts(size_t chat) const { return static_cast<size_t>(chats_[chat + 1] - chats_[chat]); }
  Draft draft(size_t chat, size_t at) const;
  uint64_t hash() const { return hash_; }  // of all that it holds

 private:
  DraftTrace(MappedFile file, uint64_t hash) : file_(std::move(file)), hash_(hash) {}

  MappedFile file_;
  uint64_t hash_;
  TraceOrigin origin_;
  std::span<const int64_t> chats_, drafts_;
  std::span<const DraftedNode> nodes_;
  std::span<const uint16_t> states_;
};

// What a trace is made of.
struct TracedDraft {
  std::vector<DraftedNode> nodes;
  std::vector<uint16_t> states;
};
struct TracedChat {
  std::vector<TracedDraft> drafts;  // [tokens of the answer]
};

// Writes a trace in place of what the file had.
Result<void> write_draft_trace(const std::filesystem::path& path, const TraceOrigin& origin, std::span<const TracedChat> chats);

}  // namespace slipstream::train
