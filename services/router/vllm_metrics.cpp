#include "services/router/vllm_metrics.h"

#include <string>

namespace slipstream {
namespace {

constexpr MetricName kRunning{"vllm:num_requests_running", "Requests that a verifier works on now."};
constexpr MetricName kWaiting{"vllm:num_requests_waiting", "Requests that wait for a verifier now."};
constexpr MetricName kPromptTokens{"vllm:prompt_tokens_total", "Prompt tokens of admitted requests."};
constexpr MetricName kGenerationTokens{"vllm:generation_tokens_total", "Tokens delivered."};
constexpr MetricName kSuccess{"vllm:request_success_total", "Requests that ended, by why."};
constexpr MetricName kFirstToken{"vllm:time_to_first_token_seconds", "From submission to the first token."};
constexpr MetricName kInterToken{"vllm:inter_token_latency_seconds", "Between tokens."};
constexpr MetricName kPerToken{"vllm:time_per_output_token_seconds", "As vllm:inter_token_latency_seconds: its older name."};
constexpr MetricName kLatency{"vllm:e2e_request_latency_seconds", "From submission to the last token."};
constexpr MetricName kQueue{"vllm:request_queue_time_seconds", "From submission to the first Start."};
constexpr MetricName kDrafts{"vllm:spec_decode_num_drafts_total", "Steps with a draft, of ended requests."};
constexpr MetricName kDraftTokens{"vllm:spec_decode_num_draft_tokens_total", "Verified draft nodes, of ended requests."};
constexpr MetricName kAcceptedTokens{"vllm:spec_decode_num_accepted_tokens_total", "Those of them that were accepted."};
constexpr MetricName kAcceptedAt{"vllm:spec_decode_num_accepted_tokens_per_pos_total",
                                 "Steps that accepted a draft node at this depth, from 0, of ended requests."};
constexpr MetricName kCacheQueries{"vllm:prefix_cache_queries_total", "Prompt tokens of ended requests."};
constexpr MetricName kCacheHits{"vllm:prefix_cache_hits_total", "Those of them that the prefix cache had."};

double d(uint64_t count) { return static_cast<double>(count); }

// Writes metrics with the two labels that all of vLLM's have.
struct VllmPage {
  Exposition& page;
  std::string_view model;
  static constexpr std::string_view kEngine = "0";

  void counter(const MetricName& name, uint64_t count) const {
    page.counter(name, d(count), {{"model_name", model}, {"engine", kEngine}});
  }
  void counter(const MetricName& name, uint64_t count, std::string_view label, std::string_view value) const {
    page.counter(name, d(count), {{"model_name", model}, {"engine", kEngine}, {label, value}});
  }
  void gauge(const MetricName& name, uint64_t value) const {
    page.gauge(name, d(value), {{"model_name", model}, {"engine", kEngine}});
  }
  template <size_t N>
  void histogram(const MetricName& name, const Histogram<N>& values) const {
    page.histogram(name, values, {{"model_name", model}, {"engine", kEngine}});
  }
};

void add_requests(const RouterCounters& c, const VllmPage& page) {
  page.gauge(kRunning, c.live);
  page.gauge(kWaiting, c.waiting);
  page.counter(kSuccess, c.stopped, "finished_reason", "stop");
  page.counter(kSuccess, c.length, "finished_reason", "length");
  page.counter(kSuccess, c.abandoned, "finished_reason", "abort");
  page.counter(kSuccess, c.failed, "finished_reason", "error");
  page.counter(kPromptTokens, c.prompt_tokens);
  page.counter(kGenerationTokens, c.output_tokens);
}

void add_times(const RouterCounters& c, const VllmPage& page) {
  page.histogram(kFirstToken, c.first_token_seconds);
  page.histogram(kInterToken, c.between_tokens_seconds);
  page.histogram(kPerToken, c.between_tokens_seconds);
  page.histogram(kLatency, c.request_seconds);
  page.histogram(kQueue, c.queue_seconds);
}

void add_drafts(const SpeculationCounts& drafts, const VllmPage& page) {
  page.counter(kDrafts, drafts.drafts);
  page.counter(kDraftTokens, drafts.draft_tokens);
  page.counter(kAcceptedTokens, drafts.accepted_tokens);
  for (size_t at = 0; at < drafts.accepted_at.size(); ++at) {
    page.counter(kAcceptedAt, drafts.accepted_at[at], "position", std::to_string(at));
  }
  page.counter(kCacheQueries, drafts.prompt_tokens);
  page.counter(kCacheHits, drafts.cached_tokens);
}

}  // namespace

void add_vllm_metrics(const RouterCounters& counters, std::string_view model, Exposition& page) {
  const VllmPage to{page, model};
  add_requests(counters, to);
  add_times(counters, to);
  add_drafts(counters.speculation, to);
}

}  // namespace slipstream
