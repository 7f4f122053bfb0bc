#include "services/verifier/sequence_span.h"

#include <string_view>

#include "common/base/sequence_name.h"
#include "services/verifier/delivery.h"

namespace slipstream {
namespace {

constexpr std::string_view kName = "verify";

std::string outcome_of(const VerifierSequence& sequence) {
  switch (sequence.output.finish) {
    case Finish::stop:
      return "stop";
    case Finish::length:
      return "length";
    case Finish::error:
      return "error";
    case Finish::none:
    case Finish::cancelled:
      return "ended by its router";
  }
  return "";
}

}  // namespace

uint64_t span_id_of(const VerifierSequence& sequence) {
  return span_id(kName, sequence.spec.trace, sequence.identity.id, sequence.identity.epoch);
}

Span span_of(const VerifierSequence& sequence, Time now) {
  const SpeculationReport report = report_of(sequence);
  Span span{.trace = sequence.spec.trace,
            .id = span_id_of(sequence),
            .name = kName,
            .serves = true,
            .begin = sequence.began,
            .end = now,
            .attributes = {{"slipstream.sequence", sequence_name(sequence.identity.id)},
                           {"slipstream.outcome", outcome_of(sequence)},
                           {"slipstream.epoch", int64_t{sequence.identity.epoch}},
                           {"slipstream.steps", int64_t{report.steps}},
                           {"slipstream.output_tokens", int64_t{sequence.context.output()}},
                           {"slipstream.cached_tokens", int64_t{report.cached_tokens}},
                           {"slipstream.draft.received_nodes", int64_t{report.received}},
                           {"slipstream.draft.accepted_nodes", int64_t{report.accepted}},
                           {"slipstream.draft.rejected_nodes", int64_t{report.rejected}},
                           {"slipstream.draft.late_nodes", int64_t{report.late}}}};
  if (sequence.first_token) span.events.push_back({"first token", *sequence.first_token});
  if (sequence.output.finish == Finish::error) span.error = sequence.output.reason;
  return span;
}

}  // namespace slipstream
