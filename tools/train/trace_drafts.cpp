// `slipstream-train trace`: a draft trace of chats.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/checkpoint/fingerprint.h"
#include "common/config/cpu_quota.h"
#include "tools/train/commands.h"
#include "tools/train/draft_tracer.h"
#include "tools/train/progress_line.h"

namespace slipstream::train {
namespace {

constexpr size_t kChatsAtOnce = 32;

Result<std::vector<ChatDocument>> read_prompts(const TraceOptions& options, const LlamaConfig& config) {
  std::vector<ChatDocument> chats;
  for (const auto& file : options.documents) {
    TRY(std::vector<ChatDocument> more, read_chat_documents(file, config.vocabulary));
    std::ranges::move(more, std::back_inserter(chats));
  }
  const int64_t longest = config.context_max - options.trace.answers.answer_tokens - options.trace.depth;
  std::erase_if(chats, [&](const ChatDocument& chat) { return chat.answer > longest; });
  if (chats.empty()) return fail("no chat of these files has a prompt that leaves room for an answer");
  if (options.skip > 0) chats.erase(chats.begin(), chats.begin() + std::min(options.skip, static_cast<int64_t>(chats.size())));
  chats.resize(std::min(chats.size(), static_cast<size_t>(options.chats)));
  if (chats.empty()) return fail("--skip {} leaves no chat", options.skip);
  return chats;
}

// How many drafts are accepted to which depth, for a look at the trace.
std::string accepted_text(std::span<const TracedChat> chats, int32_t depth) {
  std::vector<int64_t> accepted(static_cast<size_t>(depth)), tried(static_cast<size_t>(depth));
  for (const TracedChat& chat : chats) {
    for (const TracedDraft& draft : chat.drafts) {
      for (size_t at = 0; at < draft.nodes.size(); ++at) {
        ++tried[at];
        if (draft.nodes[at].matched == 0) break;
        ++accepted[at];
      }
    }
  }
  std::string text;
  for (size_t at = 0; at < accepted.size() && tried[at] > 0; ++at) {
    text += fmt::format(" {:.3f}", static_cast<double>(accepted[at]) / static_cast<double>(tried[at]));
  }
  return text;
}

}  // namespace

Result<RunEnd> trace_drafts(const TraceOptions& options, std::stop_token stop) {
  TRY(LlamaConfig config, read_llama_config(options.model));
  TRY_VOID(options.drafter.narrow(config, options.model));
  TRY(const std::vector<ChatDocument> chats, read_prompts(options, config));
  const auto tokens = static_cast<int32_t>(std::ranges::max(chats, {}, &ChatDocument::answer).answer);
  const int threads = options.threads > 0 ? options.threads : cpu_quota();
  const DeviceOptions device{.name = options.device, .threads = threads};
  TRY(DraftTracer tracer, DraftTracer::load(options.model, options.drafter, device, options.trace, tokens, kChatsAtOnce));
  RateLine progress(static_cast<int64_t>(chats.size()), "chats");
  std::vector<TracedChat> traced;
  for (size_t first = 0; first < chats.size(); first += kChatsAtOnce) {
    if (stop.stop_requested()) return fail("stopped: a trace is written whole, so nothing of this one was kept");
    const auto batch = std::span(chats).subspan(first, std::min(kChatsAtOnce, chats.size() - first));
    TRY(std::vector<TracedChat> more, tracer.trace(batch, static_cast<int64_t>(first)));
    std::ranges::move(more, std::back_inserter(traced));
    progress.add(static_cast<int64_t>(batch.size()), RateLine::Clock::now());
  }
  const TraceOrigin origin{.target = tracer.target().weights_hash(),
                           .drafter = tracer.drafter().hash(),
                           .hidden = tracer.drafter().hidden(),
                           .depth = options.trace.depth,
                           .temperature = options.trace.answers.temperature,
                           .seed = options.trace.answers.seed};
  TRY_VOID(write_draft_trace(options.out, origin, traced));
  fmt::print("{}: drafts of {} answers; accepted by depth{}\n", options.out.string(), traced.size(),
             accepted_text(traced, options.trace.depth));
  return RunEnd::finished;
}

}  // namespace slipstream::train
