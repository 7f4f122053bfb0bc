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
  write(to.initSpecialIds(static_cast<unsigned>(fingerprint.special_ids.size())), fingerprint.special_ids);
}

void write(schema::Needs::Builder to, const Needs& needs) {
  to.setFeatures(needs.features);
  to.setProbabilities(needs.probabilities);
}

void write(schema::Tuning::Builder to, const Tuning& tuning) {
  to.setVersion(tuning.version);
  to.setThreshold(tuning.threshold);
  to.setNodesMax(tuning.nodes_max);
  to.setDepthMax(tuning.depth_max);
  to.setDeadlineUs(tuning.deadline_us);
  to.setReason(fit(tuning.reason));
}

void write(schema::Sampling::Builder to, const SamplingParams& sampling) {
  to.setTemperature(sampling.temperature);
  to.setTopK(sampling.top_k);
  to.setTopP(sampling.top_p);
  to.setMinP(sampling.min_p);
}

void write(schema::Adjustments::Builder to, const Adjustments& adjustments) {
  to.setRepetitionPenalty(adjustments.repetition_penalty);
  to.setPresencePenalty(adjustments.presence_penalty);
  to.setFrequencyPenalty(adjustments.frequency_penalty);
  to.setMinTokens(adjustments.min_tokens);
  write(to.initEndIds(static_cast<unsigned>(adjustments.end_ids.size())), adjustments.end_ids);
  auto bias = to.initLogitBias(static_cast<unsigned>(adjustments.bias.size()));
  for (unsigned at = 0; at < bias.size(); ++at) {
    bias[at].setId(adjustments.bias[at].id);
    bias[at].setBias(adjustments.bias[at].bias);
  }
  auto words = to.initBadWords(static_cast<unsigned>(adjustments.bad_words.size()));
  for (unsigned at = 0; at < words.size(); ++at) {
    const std::vector<TokenId>& word = adjustments.bad_words[at];
    write(words.init(at, static_cast<unsigned>(word.size())), word);
  }
  write(to.initAllowedIds(static_cast<unsigned>(adjustments.allowed.size())), adjustments.allowed);
}

void write(schema::Acceptance::Builder to, const Acceptance& acceptance) {
  to.setRule(as<schema::Rule>(acceptance.rule));
  to.setStrength(acceptance.strength);
  to.setDelta(acceptance.delta);
  to.setRootChildren(acceptance.root_children);
  to.setChildren(acceptance.children);
  to.setRepeats(acceptance.repeats);
}

void write(capnp::List<int32_t>::Builder to, std::span<const TokenId> ids) {
  for (unsigned at = 0; at < to.size(); ++at) to.set(at, ids[at]);
}

SequenceId read(schema::SequenceId::Reader from) { return {.router = from.getRouter(), .counter = from.getCounter()}; }

VersionRange read(schema::VersionRange::Reader from) { return {.oldest = from.getOldest(), .newest = from.getNewest()}; }

Needs read(schema::Needs::Reader from) { return {.features = from.getFeatures(), .probabilities = from.getProbabilities()}; }

SamplingParams read(schema::Sampling::Reader from) {
  return {.temperature = from.getTemperature(), .top_k = from.getTopK(), .top_p = from.getTopP(), .min_p = from.getMinP()};
}

Result<Fingerprint> read(schema::Fingerprint::Reader from) {
  TRY(auto special_ids, read("Fingerprint.specialIds", from.getSpecialIds(), kStopIdsMax));
  return Fingerprint{.tokenizer = from.getTokenizer(),
                     .vocabulary = from.getVocabulary(),
                     .special_ids = std::move(special_ids),
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

Result<Adjustments> read(schema::Adjustments::Reader from) {
  Adjustments adjustments{.repetition_penalty = from.getRepetitionPenalty(),
                          .presence_penalty = from.getPresencePenalty(),
                          .frequency_penalty = from.getFrequencyPenalty(),
                          .min_tokens = from.getMinTokens()};
  TRY(adjustments.end_ids, read("Adjustments.endIds", from.getEndIds(), kStopIdsMax));
  const auto bias = from.getLogitBias();
  TRY_VOID(bounded("Adjustments.logitBias", bias.size(), kLogitBiasMax));
  for (auto each : bias) adjustments.bias.push_back({.id = each.getId(), .bias = each.getBias()});
  const auto words = from.getBadWords();
  TRY_VOID(bounded("Adjustments.badWords", words.size(), kBadSequencesMax));
  for (auto word : words) {
    TRY(auto ids, read("Adjustments.badWords", word, kBadWordTokensMax));
    adjustments.bad_words.push_back(std::move(ids));
  }
  TRY(adjustments.allowed, read("Adjustments.allowedIds", from.getAllowedIds(), kAllowedTokensMax));
  return adjustments;
}

Result<Acceptance> read(schema::Acceptance::Reader from) {
  TRY(const Rule rule, read_enum("Acceptance.rule", from.getRule(), Rule::typical));
  return Acceptance{.rule = rule,
                    .strength = from.getStrength(),
                    .delta = from.getDelta(),
                    .root_children = from.getRootChildren(),
                    .children = from.getChildren(),
                    .repeats = from.getRepeats()};
}

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

Result<std::string> read(std::string_view field, capnp::Text::Reader from) {
  if (from.size() > kTextBytesMax) return fail("{} has {} bytes, the limit is {}", field, from.size(), kTextBytesMax);
  const std::string_view text(from.begin(), from.size());
  if (!is_text(text)) return fail("{} is no UTF-8 text without NUL", field);
  return std::string(text);
}

}  // namespace slipstream::wire
