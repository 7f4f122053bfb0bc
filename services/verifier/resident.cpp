#include "services/verifier/resident.h"

#include <span>
#include <utility>

#include "common/base/check.h"
#include "common/messages/shown_names.h"

namespace slipstream {

bool Resident::drafts_for(const VerifierSequence& sequence) const {
  return method_ != nullptr && !is_sampled(sequence.spec.acceptance.rule);
}

Resident::Resident(std::unique_ptr<Method> method) : method_(std::move(method)) {
  if (method_ == nullptr) return;
  kind_ = {.method = std::string(kResidentPrefix) + std::string(method_->name()), .model = method_->draft_model().name};
}

// No two sequences of this verifier's life have the same number, so it serves as the key's peer.
DraftKey Resident::follow(VerifierSequence& sequence) {
  const DraftKey key{Peer{sequence.identity.number}, sequence.identity.id};
  int32_t& holds = sequence.drafting.resident_holds;
  const std::span tokens(sequence.context.tokens());
  if (holds == 0) method_->begin(key, drafter_part(sequence.spec));
  method_->advance(key, tokens.subspan(static_cast<size_t>(holds)));
  holds = sequence.context.size();
  return key;
}

TokenTree Resident::draft(VerifierSequence& sequence, const StopRule& rule) {
  const DraftAsk ask{.key = follow(sequence), .rule = rule, .epoch = sequence.identity.epoch, .round = sequence.drafting.round};
  const Result<std::vector<Draft>> drafts = method_->draft({&ask, 1});
  CHECK(drafts && drafts->size() == 1 && drafts->front(), "a quick method answers every ask");
  return drafts->front()->tokens();
}

void Resident::end(VerifierSequence& sequence) {
  if (sequence.drafting.resident_holds == 0) return;
  method_->end(follow(sequence));
  sequence.drafting.resident_holds = 0;
}

}  // namespace slipstream
