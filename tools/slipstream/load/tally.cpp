#include "tools/slipstream/load/tally.h"

#include <algorithm>
#include <numeric>
#include <string_view>

namespace slipstream::command::load {

namespace {

// A sentence without its figures: refusals tell how long each request would have waited.
std::string without_figures(std::string_view sentence) {
  std::string words(sentence);
  std::erase_if(words, [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
  return words;
}

}  // namespace

void Tally::add(const Sample& sample) {
  ++endings_[static_cast<size_t>(sample.ending)];
  timeline_.add(sample);
  const Duration lateness = sample.sent - sample.scheduled;
  lateness_.add(lateness);
  if (lateness > kLate) ++late_;
  if (sample.ending == Ending::complete) return add_complete(sample);
  tokens_out_of_parts_ += static_cast<uint64_t>(sample.output_tokens());
  const bool refused = sample.ending == Ending::refused_429 || sample.ending == Ending::refused_503;
  if (refused && !sample.retry_after) ++no_retry_after_;
  if (sample.problem.empty()) return;
  const auto known = std::ranges::find_if(problems_, [like = without_figures(sample.problem)](const auto& problem) {
    return without_figures(problem.first) == like;
  });
  if (known != problems_.end()) {
    ++known->second;
  } else if (problems_.size() < kProblemsMax) {
    problems_.emplace(sample.problem, 1);
  }
}

void Tally::add_complete(const Sample& sample) {
  const int tokens = sample.output_tokens();
  tokens_out_ += static_cast<uint64_t>(tokens);
  tokens_in_ += static_cast<uint64_t>(sample.tokens_in.value_or(0));
  tokens_cached_ += static_cast<uint64_t>(sample.tokens_cached.value_or(0));
  chunks_ += sample.chunks.size();
  if (!sample.tokens_out) ++without_usage_;
  measures_.e2e.add(sample.ended - sample.scheduled);
  std::optional<Duration> ttft, tpot;
  if (!sample.chunks.empty()) {
    const Offset first = sample.chunks.front().at, last = sample.chunks.back().at;
    ttft = first - sample.scheduled;
    measures_.ttft.add(*ttft);
    measures_.ttft_from_sending.add(first - sample.sent);
    if (tokens > 1) tpot = (last - first) / (tokens - 1);
  }
  if (tpot) measures_.tpot.add(*tpot);
  for (size_t i = 1; i < sample.chunks.size(); ++i) {
    const Chunk& chunk = sample.chunks[i];
    const Duration gap = chunk.at - sample.chunks[i - 1].at;
    measures_.itl_by_chunk.add(gap);
    // A chunk may bring text that was held back, and no token.
    if (sample.chunk_tokens_known && chunk.tokens > 0) {
      measures_.itl_by_token.add(gap / chunk.tokens, static_cast<uint64_t>(chunk.tokens));
    }
  }
  // An answer without a token has no time to its first; one with a single token has none between
  // tokens, and keeps within any.
  const bool soon = !objectives_.ttft || (ttft && *ttft <= *objectives_.ttft);
  const bool fast = !objectives_.tpot || !tpot || *tpot <= *objectives_.tpot;
  if (soon && fast) ++good_;
}

uint64_t Tally::requests() const { return std::accumulate(endings_.begin(), endings_.end(), uint64_t{0}); }

double Tally::per_s(uint64_t count) const {
  const double seconds = std::chrono::duration<double>(elapsed_).count();
  return seconds > 0 ? static_cast<double>(count) / seconds : 0;
}

}  // namespace slipstream::command::load
