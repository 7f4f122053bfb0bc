// Every metric of the product, in one place. docs/METRICS.md explains each; tests/tidy holds the two together.
#pragma once

#include <string_view>

namespace slipstream {

struct MetricName {
  std::string_view name;
  std::string_view help;
};

namespace metric {
inline constexpr MetricName kBuildInfo{"slipstream_build_info", "Always 1; labels say what runs."};
// Router: requests. Outcomes add up to submitted, with `waiting` and `live` among them.
inline constexpr MetricName kRouterSubmitted{"slipstream_router_requests_submitted_total",
                                             "Chat requests that passed parsing."};
inline constexpr MetricName kRouterRequests{"slipstream_router_requests_total", "Chat requests that ended, by outcome."};
inline constexpr MetricName kRouterLive{"slipstream_router_requests_live", "Requests that a verifier works on now."};
inline constexpr MetricName kRouterWaiting{"slipstream_router_requests_waiting", "Requests that wait for a verifier now."};
inline constexpr MetricName kRouterQueueSeconds{"slipstream_router_queue_seconds", "From submission to the first Start."};
inline constexpr MetricName kRouterFirstTokenSeconds{"slipstream_router_time_to_first_token_seconds",
                                                     "From submission to the first token."};
inline constexpr MetricName kRouterInterTokenSeconds{"slipstream_router_inter_token_seconds",
                                                     "Between tokens; those of one verify step share its time evenly."};
inline constexpr MetricName kRouterRequestSeconds{"slipstream_router_request_seconds", "From submission to the last token."};
// Router: tokens.
inline constexpr MetricName kRouterPromptTokens{"slipstream_router_prompt_tokens_total", "Prompt tokens of admitted requests."};
inline constexpr MetricName kRouterOutputTokens{"slipstream_router_output_tokens_total",
                                                "Tokens delivered, each once, by whether a drafter had guessed it."};
inline constexpr MetricName kRouterTokenFaults{
    "slipstream_router_token_faults_total", "Tokens messages not taken as they came: repeated tokens, gaps, stale, invalid."};
// Router: work handed to verifiers.
inline constexpr MetricName kRouterStarts{"slipstream_router_starts_total", "Starts sent, by kind: first, repeated, replay."};
inline constexpr MetricName kRouterStartsRefused{"slipstream_router_starts_refused_total", "Starts that a verifier refused."};
// Router: workers.
inline constexpr MetricName kRouterWorkers{"slipstream_router_workers", "Workers that new work may go to, by role."};
inline constexpr MetricName kRouterWorkerBusy{"slipstream_router_worker_busy_ratio",
                                              "Share of time computing, as the worker says."};
inline constexpr MetricName kRouterWorkerFaults{"slipstream_router_worker_faults_total",
                                                "Workers refused, lost, silenced or quarantined."};
inline constexpr MetricName kRouterPeerFaults{"slipstream_router_peer_faults_total",
                                              "Messages dropped: malformed, of unknown kind, or from a stranger."};

}  // namespace metric

}  // namespace slipstream
