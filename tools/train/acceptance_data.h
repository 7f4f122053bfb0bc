// What an acceptance head learns from: drafted nodes whose earlier nodes were all accepted, with
// the drafter's hidden state after it has read the node, and whether the target chose its token.
//
// SpecDec++ (2405.19715, Section 3.3) draws tokens into the target's own text, one by one, and
// labels each by its chance to be accepted. It mixes drawn tokens into the earlier ones (r =
// 15 %), since a language model's hidden states behind drafts differ from those behind its text.
// The states of a trace need no mixing: they are those behind the drafts themselves, as served.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include <ATen/core/Tensor.h>

#include "common/base/result.h"
#include "common/model/heads/acceptance_head.h"
#include "tools/train/draft_trace.h"

namespace slipstream::train {

inline int64_t column_of(const TraceOrigin& origin) { return acceptance_column(origin.temperature > 0); }

struct AcceptanceExamples {
  at::Tensor states;              // [examples, hidden] f32
  std::vector<float> accepted;    // [examples] 1 or 0
  std::vector<float> confidence;  // [examples] as the drafter stated it
  std::vector<int64_t> column;    // [examples] acceptance_column()

  int64_t size() const { return static_cast<int64_t>(accepted.size()); }
};

// The chats of some traces, in parts: of `held_out_every` chats one calibrates, one measures, and
// all others train.
struct AcceptanceData {
  AcceptanceExamples train, calibrate, measure;

  // Errors: traces of different drafters; a part without examples of both outcomes.
  static Result<AcceptanceData> of(std::span<const DraftTrace> traces, int64_t held_out_every);
};

// All nodes of a chat's drafts, in order, also those behind a rejected one.
AcceptanceExamples nodes_of_chat(const DraftTrace& trace, size_t chat);

}  // namespace slipstream::train
