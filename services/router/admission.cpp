#include "services/router/admission.h"

#include <algorithm>
#include <cmath>

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

double seconds(Time duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

void Admission::observe(const Workers& workers, Time now) {
  Places places{.all = 0, .full = true};
  int32_t verifiers = 0;
  for (const KnownWorker* worker : workers.verifiers()) {
    if (!worker->takes_work()) continue;
    ++verifiers;
    places.all += worker->capacity();
    places.full &= worker->sequences() >= worker->capacity();
  }
  forecast_.observe(places, now);
  prefill_.observe(awaited_, verifiers, now);
}

void Admission::begin_prefill(int32_t tokens) {
  ++awaited_.prompts;
  awaited_.tokens += tokens;
}

void Admission::end_prefill(int32_t tokens, bool done) {
  if (tokens == 0) return;
  --awaited_.prompts;
  awaited_.tokens -= tokens;
  if (done) prefill_.prefilled(tokens);
}

std::optional<Time> Admission::expected_wait(size_t ahead) const {
  const auto room = forecast_.expected(ahead);
  return room ? std::optional(*room + prefill_.expected()) : std::nullopt;
}

int Admission::retry_after_s(size_t ahead) const {
  const auto wait = expected_wait(ahead);
  if (!wait) return kRetryNoVerifierSeconds;
  return static_cast<int>(std::clamp<double>(std::ceil(seconds(*wait)), kRetryFullSeconds, kRetryMostSeconds));
}

std::optional<Failure> Admission::refuse(const Submit& submit, const Workers& workers) const {
  const int32_t context = workers.context_max();
  const auto prompt = static_cast<int64_t>(submit.prompt.size());
  Failure failure{.request = submit.request, .status = 400, .code = "context_length_exceeded"};
  if (prompt >= context) {
    failure.param = submit.prompt_field;
    failure.message = fmt::format("{} Your `{}` took {} of them, and an answer needs room. Shorten it.", context_words(context),
                                  submit.prompt_field, prompt);
    if (submit.longest_result.empty()) return failure;
    failure.param = submit.longest_result;
    failure.message += fmt::format(" Most of it is `{}`.", submit.longest_result);
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
  return refuse_wait(submit);
}

std::optional<Failure> Admission::refuse_wait(const Submit& submit) const {
  if (submit.answer_begun) return std::nullopt;
  Failure failure{.request = submit.request, .status = 429};
  if (static_cast<int32_t>(queue_.size()) >= config_.waiting_max) {
    failure.code = "queue_full";
    failure.message = fmt::format("{} requests wait already, the limit of this router. Try again in a moment.", queue_.size());
    failure.retry_after_s = retry_after_s(queue_.size());
    return failure;
  }
  const size_t ahead = queue_.ahead_of(submit.priority, submit.spec.tenant);
  const auto wait = expected_wait(ahead);
  if (config_.queue_wait_ms == 0 || !wait || *wait <= std::chrono::milliseconds(config_.queue_wait_ms)) return std::nullopt;
  failure.code = "overloaded";
  failure.retry_after_s = retry_after_s(ahead);
  failure.message = fmt::format(
      "All verifiers are busy: this request would wait for about {:.1f} s, and {:.1f} s is the limit of this router. Try again "
      "in {} s.",
      seconds(*wait), config_.queue_wait_ms / 1000.0, failure.retry_after_s);
  return failure;
}

// A client that has part of its answer is not left with it while a verifier may yet go on.
uint32_t Admission::wait_most_ms(const LiveRequest& request) const {
  const bool begun = request.epoch > 0 || request.submit.answer_begun;
  return begun ? config_.begun_wait_ms : config_.wait_most_ms();
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
  if (const uint32_t most_ms = wait_most_ms(request); now - waiting.since >= std::chrono::milliseconds(most_ms)) {
    failure.code = "queue_timeout";
    failure.message = fmt::format("All verifiers are busy, and this request has waited for {} ms. Try again later.", most_ms);
    failure.retry_after_s = retry_after_s(queue_.size());
    return failure;
  }
  return std::nullopt;
}

}  // namespace slipstream
