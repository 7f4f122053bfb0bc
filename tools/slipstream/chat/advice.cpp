#include "tools/slipstream/chat/advice.h"

#include <fmt/format.h>

namespace slipstream::command::chat {
namespace {

constexpr int kTooManyRequests = 429, kUnavailable = 503;

std::string when(const AskFailure& failure) {
  return failure.retry_after.empty() ? "in a moment" : fmt::format("in {} s", failure.retry_after);
}

}  // namespace

std::string advice(const AskFailure& failure) {
  if (failure.code == "context_length_exceeded") {
    return "the chat has grown too long: /clear forgets it (/save keeps a copy), or ask for less with --max-tokens";
  }
  if (failure.code == "no_verifier") return "the model is not there: wait until a verifier has started, then /retry";
  if (failure.status == kTooManyRequests || failure.status == kUnavailable) {
    return fmt::format("the server has no room now: /retry {}", when(failure));
  }
  if (failure.status == 0) return "is the server still there? /retry asks again";
  return failure.status >= 500 || failure.status == 200 ? "/retry asks again" : "";
}

}  // namespace slipstream::command::chat
