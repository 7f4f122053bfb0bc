// Counts the requests that were answered with an error, by its code. Thread-safe.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

namespace slipstream {

// The codes of docs/use/API.md. The last one stands for any other, so that the number of label
// values is bounded.
inline constexpr std::array<std::string_view, 29> kErrorCodes{"invalid_json",
                                                              "invalid_type",
                                                              "invalid_value",
                                                              "unsupported_parameter",
                                                              "unknown_parameter",
                                                              "unsupported_media_type",
                                                              "context_length_exceeded",
                                                              "no_token_left",
                                                              "grammar_too_complex",
                                                              "invalid_api_key",
                                                              "needs_admin",
                                                              "unknown_host",
                                                              "model_not_found",
                                                              "unknown_path",
                                                              "unknown_drafter",
                                                              "method_not_allowed",
                                                              "queue_full",
                                                              "grammars_full",
                                                              "overloaded",
                                                              "rate_limit_exceeded",
                                                              "shutting_down",
                                                              "no_verifier",
                                                              "queue_timeout",
                                                              "refused_by_verifier",
                                                              "generation_failed",
                                                              "invalid_tokens",
                                                              "no_token",
                                                              "detokenize_failed",
                                                              "other"};

using ErrorCountsByCode = std::array<uint64_t, kErrorCodes.size()>;

class ErrorCounts {
 public:
  void add(std::string_view code);
  ErrorCountsByCode by_code() const;

 private:
  std::array<std::atomic<uint64_t>, kErrorCodes.size()> counts_{};
};

}  // namespace slipstream
