#include "tools/train/draft_trace.h"

#include <algorithm>
#include <cstring>

#include <xxhash.h>

#include "common/base/check.h"
#include "common/base/write_whole.h"
#include "common/corpus/sealed_file.h"
#include "tools/train/body_fields.h"

namespace slipstream::train {
namespace {

constexpr SealedKind kTrace{
    .magic = "SLIPDRAF", .version = 2, .what = "draft trace", .remedy = "make it with `slipstream-train trace`"};

struct TraceCounts {
  int64_t chats = 0, drafts = 0, nodes = 0;
};

constexpr int64_t kChatsMax = 1 << 24, kNodesMax = 1 << 28;
constexpr int32_t kHiddenMax = 1 << 16;

// The size of a body, header and all; -1: no body is as large.
int64_t body_bytes(const TraceOrigin& origin, const TraceCounts& counts) {
  if (origin.hidden < 1 || origin.hidden > kHiddenMax || origin.depth < 1) return -1;
  if (counts.chats < 1 || counts.chats > kChatsMax || counts.drafts < 0 || counts.drafts > kNodesMax) return -1;
  if (counts.nodes < 0 || counts.nodes > kNodesMax) return -1;
  const int64_t of_a_node = static_cast<int64_t>(sizeof(DraftedNode)) + origin.hidden * static_cast<int64_t>(sizeof(uint16_t));
  return static_cast<int64_t>(sizeof(origin) + sizeof(counts)) +
         (counts.chats + counts.drafts + 2) * static_cast<int64_t>(sizeof(int64_t)) + counts.nodes * of_a_node;
}

// Whether these are the starts of parts that cover [0, end) in order.
bool covers(std::span<const int64_t> starts, int64_t end) {
  return starts.front() == 0 && starts.back() == end && std::ranges::is_sorted(starts);
}

}  // namespace

Result<DraftTrace> DraftTrace::open(const std::filesystem::path& path) {
  TRY(MappedFile file, MappedFile::open(path));
  TRY(std::span<const std::byte> body, unseal(kTrace, /*tokenizer=*/0, file.bytes(), path.string()));
  const auto bytes = static_cast<int64_t>(body.size());
  DraftTrace trace(std::move(file), XXH3_64bits(body.data(), body.size()));
  const auto damaged = fail("{} is damaged: {}", path.string(), kTrace.remedy);
  TraceCounts counts;
  if (body.size() < sizeof(trace.origin_) + sizeof(counts)) return damaged;
  trace.origin_ = take<TraceOrigin>(body, 1).front();
  counts = take<TraceCounts>(body, 1).front();
  if (bytes != body_bytes(trace.origin_, counts)) return damaged;
  trace.chats_ = take<int64_t>(body, counts.chats + 1);
  trace.drafts_ = take<int64_t>(body, counts.drafts + 1);
  trace.nodes_ = take<DraftedNode>(body, counts.nodes);
  trace.states_ = take<uint16_t>(body, counts.nodes * trace.origin_.hidden);
  if (!covers(trace.chats_, counts.drafts) || !covers(trace.drafts_, counts.nodes)) return damaged;
  return trace;
}

Draft DraftTrace::draft(size_t chat, size_t at) const {
  CHECK(chat < chats() && at < drafts(chat), "draft {} of chat {}", at, chat);
  const size_t draft = static_cast<size_t>(chats_[chat]) + at;
  const auto first = static_cast<size_t>(drafts_[draft]), count = static_cast<size_t>(drafts_[draft + 1]) - first;
  const auto hidden = static_cast<size_t>(origin_.hidden);
  return {.nodes = nodes_.subspan(first, count), .states = states_.subspan(first * hidden, count * hidden)};
}

Result<void> write_draft_trace(const std::filesystem::path& path, const TraceOrigin& origin,
                               std::span<const TracedChat> chats) {
  std::vector<int64_t> chat_starts{0}, draft_starts{0};
  for (const TracedChat& chat : chats) {
    chat_starts.push_back(chat_starts.back() + static_cast<int64_t>(chat.drafts.size()));
    for (const TracedDraft& draft : chat.drafts) {
      draft_starts.push_back(draft_starts.back() + static_cast<int64_t>(draft.nodes.size()));
    }
  }
  const TraceCounts counts{static_cast<int64_t>(chats.size()), chat_starts.back(), draft_starts.back()};
  std::string body;
  body.reserve(static_cast<size_t>(std::max<int64_t>(0, body_bytes(origin, counts))));
  append(body, origin);
  append(body, counts);
  append(body, std::span<const int64_t>(chat_starts));
  append(body, std::span<const int64_t>(draft_starts));
  const auto each_draft = [&](const auto& add) {
    for (const TracedChat& chat : chats) std::ranges::for_each(chat.drafts, add);
  };
  each_draft([&](const TracedDraft& draft) { append(body, std::span<const DraftedNode>(draft.nodes)); });
  each_draft([&](const TracedDraft& draft) { append(body, std::span<const uint16_t>(draft.states)); });
  std::string file = seal(kTrace, /*tokenizer=*/0, std::as_bytes(std::span(body)));
  return replace_whole(path.string(), file + body, "the draft trace");
}

}  // namespace slipstream::train
