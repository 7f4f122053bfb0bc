#include "services/router/admission.h"

#include <algorithm>

#include <fmt/ranges.h>

namespace slipstream {
namespace {

// Names a verifier that leaves, if one does, and its reason.
std::string who_leaves(const Workers& workers) {
  for (const auto& [peer, worker] : workers.all()) {
    if (worker.hello.role != Role::verifier || !worker.leaving || worker.silent) continue;
    return fmt::format(" The verifier {:016x} leaves this router: {}.", worker.hello.incarnation, worker.why_leaving);
  }
  return {};
}

// Says why the verifiers that are there cannot go on with a request that has begun.
std::string why_not_there(const LiveRequest& request, const Workers& workers) {
  const auto other = [&](const auto& entry) {
    const KnownWorker& worker = entry.second;
    return worker.hello.role == Role::verifier && worker.takes_work() && worker.backend() != request.backend;
  };
  if (!request.pinned() || std::ranges::none_of(workers.all(), other)) return {};
  return fmt::format(
      " Those that are there have other weights or numerics than the one that began this answer ({}): they would go on with "
      "other words.",
      request.backend.numerics_id);
}

}  // namespace

std::optional<Failure> Admission::refuse(const Submit& submit, const Workers& workers) const {
  const int32_t context = workers.context_max();
  const auto prompt = static_cast<int64_t>(submit.prompt.size());
  Failure failure{.request = submit.request, .status = 400, .code = "context_length_exceeded"};
  if (prompt >= context) {
    failure.param = submit.prompt_field;
    failure.message = fmt::format("{} Your `{}` took {} of them, and an answer needs room. Shorten it.", context_words(context),
                                  submit.prompt_field, prompt);
    return failure;
  }
  if (prompt + submit.spec.output_max > context) {
    failure.param = "max_tokens";
    failure.message =
        fmt::format("{} Your `{}` took {} of them and `max_tokens` asks for {} more. Ask for at most {}.",
                    context_words(context), submit.prompt_field, prompt, submit.spec.output_max, context - prompt);
    return failure;
  }
  if (const std::string& drafter = submit.speculation.drafter; !drafter.empty() && !workers.knows_method(drafter)) {
    failure.param = "speculation.drafter";
    failure.code = "invalid_value";
    failure.message = fmt::format(
        "`speculation.drafter` is \"{}\", and no drafter of that method has been here. Choose one of {}, or leave it out.",
        drafter, fmt::join(workers.methods(), ", "));
    return failure;
  }
  if (static_cast<int32_t>(queue_.size()) < config_.waiting_max) return std::nullopt;
  return Failure{
      .request = submit.request,
      .status = 429,
      .code = "queue_full",
      .message = fmt::format("{} requests wait already, the limit of this router. Try again in a moment.", queue_.size()),
      .retry_after_s = kRetryFullSeconds};
}

std::optional<Failure> Admission::expire(const LiveRequest& request, const Workers& workers, Time now) const {
  const auto& waiting = std::get<Waiting>(request.phase);
  Failure failure{.request = request.submit.request, .status = 503, .retry_after_s = kRetryNoVerifierSeconds};
  if (now - waiting.no_verifier_since >= std::chrono::milliseconds(config_.verifier_wait_ms)) {
    failure.code = "no_verifier";
    failure.message =
        fmt::format("No verifier that can take this request for {} ms.{}{} See /ready and the page / of this router.",
                    config_.verifier_wait_ms, why_not_there(request, workers), who_leaves(workers));
    return failure;
  }
  if (now - waiting.since >= std::chrono::milliseconds(config_.queue_wait_ms)) {
    failure.code = "queue_timeout";
    failure.message = fmt::format("All verifiers were busy for {} ms. Try again later.", config_.queue_wait_ms);
    return failure;
  }
  return std::nullopt;
}

}  // namespace slipstream
