#include "common/wire/parts.h"

#include "common/base/limits.h"
#include "common/wire/text.h"

namespace slipstream::wire {

void write(schema::SequenceId::Builder to, const SequenceId& id) {
  to.setRouter(id.router);
  to.setCounter(id.counter);
}

void write(schema::VersionRange::Builder to, const VersionRange& range) {
  to.setOldest(range.oldest);
  to.setNewest(range.newest);
}

void write(schema::Fingerprint::Builder to, const Fingerprint& fingerprint) {
  to.setTokenizer(fingerprint.tokenizer);
  to.setWeights(fingerprint.weights);
  to.setVocabulary(fingerprint.vocabulary);
  write(to.initEosIds(static_cast<unsigned>(fingerprint.eos_ids.size())), fingerprint.eos_ids);
}

void write(schema::Tuning::Builder to, const Tuning& tuning) {
  to.setVersion(tuning.version);
  to.setThreshold(tuning.threshold);
  to.setNodesMax(tuning.nodes_max);
  to.setDepthMax(tuning.depth_max);
  to.setDeadlineUs(tuning.deadline_us);
  to.setReason(fit(tuning.reason));
}

void write(capnp::List<int32_t>::Builder to, std::span<const TokenId> ids) {
  for (unsigned at = 0; at < to.size(); ++at) to.set(at, ids[at]);
}

SequenceId read(schema::SequenceId::Reader from) { return {.router = from.getRouter(), .counter = from.getCounter()}; }

VersionRange read(schema::VersionRange::Reader from) { return {.oldest = from.getOldest(), .newest = from.getNewest()}; }

Result<Fingerprint> read(schema::Fingerprint::Reader from) {
  TRY(auto eos_ids, read("Fingerprint.eosIds", from.getEosIds(), kStopIdsMax));
  return Fingerprint{.tokenizer = from.getTokenizer(),
                     .vocabulary = from.getVocabulary(),
                     .eos_ids = std::move(eos_ids),
                     .weights = from.getWeights()};
}

Result<Tuning> read(schema::Tuning::Reader from) {
  TRY(auto reason, read("Tuning.reason", from.getReason()));
  return Tuning{.version = from.getVersion(),
                .threshold = from.getThreshold(),
                .nodes_max = from.getNodesMax(),
                .depth_max = from.getDepthMax(),
                .deadline_us = from.getDeadlineUs(),
                .reason = std::move(reason)};
}

// Called before memory is allocated for a list: a short message can claim a very long list.
Result<void> bounded(std::string_view field, size_t entries, int entries_max) {
  if (entries <= static_cast<size_t>(entries_max)) return {};
  return fail("{} has {} entries, the limit is {}", field, entries, entries_max);
}

Result<std::vector<TokenId>> read(std::string_view field, capnp::List<int32_t>::Reader from, int entries_max) {
  TRY_VOID(bounded(field, from.size(), entries_max));
  std::vector<TokenId> ids(from.size());
  for (unsigned at = 0; at < from.size(); ++at) ids[at] = from[at];
  return ids;
}

Result<std::string> read(std::string_view field, capnp::Text::Reader from, size_t bytes_max) {
  if (from.size() > bytes_max) return fail("{} has {} bytes, the limit is {}", field, from.size(), bytes_max);
  const std::string_view text(from.begin(), from.size());
  if (!is_text(text)) return fail("{} is no UTF-8 text without NUL", field);
  return std::string(text);
}

}  // namespace slipstream::wire
