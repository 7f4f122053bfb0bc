#include "common/wire/generation.h"

#include "common/base/limits.h"
#include "common/wire/parts.h"

namespace slipstream::wire {
namespace {

// The overloads below would hide those of parts.h.
using wire::read;
using wire::write;

void write(schema::Sampling::Builder to, const SamplingParams& sampling) {
  to.setTemperature(sampling.temperature);
  to.setTopK(sampling.top_k);
  to.setTopP(sampling.top_p);
  to.setMinP(sampling.min_p);
}

void write(schema::LogitsParams::Builder to, const LogitsParams& logits_params) {
  to.setRepetitionPenalty(logits_params.repetition_penalty);
  to.setPresencePenalty(logits_params.presence_penalty);
  to.setFrequencyPenalty(logits_params.frequency_penalty);
  to.setMinTokens(logits_params.min_tokens);
  write(to.initStopIds(static_cast<unsigned>(logits_params.stop_ids.size())), logits_params.stop_ids);
  auto bias = to.initLogitBias(static_cast<unsigned>(logits_params.bias.size()));
  for (unsigned at = 0; at < bias.size(); ++at) {
    bias[at].setId(logits_params.bias[at].id);
    bias[at].setBias(logits_params.bias[at].bias);
  }
  auto words = to.initBadWords(static_cast<unsigned>(logits_params.bad_words.size()));
  for (unsigned at = 0; at < words.size(); ++at) {
    const std::vector<TokenId>& word = logits_params.bad_words[at];
    write(words.init(at, static_cast<unsigned>(word.size())), word);
  }
  write(to.initAllowedIds(static_cast<unsigned>(logits_params.allowed.size())), logits_params.allowed);
}

void write(schema::Acceptance::Builder to, const Acceptance& acceptance) {
  to.setRule(as<schema::Rule>(acceptance.rule));
  to.setStrength(acceptance.strength);
  to.setDelta(acceptance.delta);
  to.setRootChildren(acceptance.root_children);
  to.setChildren(acceptance.children);
  to.setRepeats(acceptance.repeats);
}

SamplingParams read(schema::Sampling::Reader from) {
  return {.temperature = from.getTemperature(), .top_k = from.getTopK(), .top_p = from.getTopP(), .min_p = from.getMinP()};
}

Result<LogitsParams> read(schema::LogitsParams::Reader from) {
  LogitsParams logits_params{.repetition_penalty = from.getRepetitionPenalty(),
                             .presence_penalty = from.getPresencePenalty(),
                             .frequency_penalty = from.getFrequencyPenalty(),
                             .min_tokens = from.getMinTokens()};
  TRY(logits_params.stop_ids, read("LogitsParams.stopIds", from.getStopIds(), kStopIdsMax));
  const auto bias = from.getLogitBias();
  TRY_VOID(bounded("LogitsParams.logitBias", bias.size(), kLogitBiasMax));
  for (auto each : bias) logits_params.bias.push_back({.id = each.getId(), .bias = each.getBias()});
  const auto words = from.getBadWords();
  TRY_VOID(bounded("LogitsParams.badWords", words.size(), kBadSequencesMax));
  for (auto word : words) {
    TRY(auto ids, read("LogitsParams.badWords", word, kBadWordTokensMax));
    logits_params.bad_words.push_back(std::move(ids));
  }
  TRY(logits_params.allowed, read("LogitsParams.allowedIds", from.getAllowedIds(), kAllowedTokensMax));
  return logits_params;
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

// The fields that drafter_part() keeps. They are written by templates because Start and
// SequenceInfo are unrelated types that have these fields under the same names.
template <class Builder>
void write_drafter_part(Builder to, const GenerationSpec& spec) {
  to.setSeed(spec.seed);
  to.setPromptLength(spec.prompt_length);
  to.setChoice(spec.choice);
  to.setTenant(spec.tenant);
  write(to.initAcceptance(), spec.acceptance);
  write(to.initSampling(), spec.sampling);
  // Most requests have none. An absent part reads as the defaults.
  if (spec.logits_params.any()) write(to.initLogitsParams(), spec.logits_params);
  if (!spec.trace.traced()) return;
  auto trace = to.initTrace();
  trace.setHigh(spec.trace.high);
  trace.setLow(spec.trace.low);
  trace.setParent(spec.trace.parent);
}

template <class Reader>
Result<GenerationSpec> read_drafter_part(Reader from) {
  GenerationSpec spec{.prompt_length = from.getPromptLength(),
                      .sampling = read(from.getSampling()),
                      .seed = from.getSeed(),
                      .choice = from.getChoice(),
                      .tenant = from.getTenant(),
                      .trace = {from.getTrace().getHigh(), from.getTrace().getLow(), from.getTrace().getParent()}};
  TRY(spec.acceptance, read(from.getAcceptance()));
  TRY(spec.logits_params, read(from.getLogitsParams()));
  return spec;
}

}  // namespace

void write(schema::Start::Builder to, const GenerationSpec& spec) {
  write_drafter_part(to, spec);
  to.setOutputMax(spec.output_max);
  write(to.initStopIds(static_cast<unsigned>(spec.stop_ids.size())), spec.stop_ids);
  // The wire has one number: 0 for no logprobs, else one more than the alternatives.
  if (spec.top_logprobs) to.setLogprobs(static_cast<uint8_t>(*spec.top_logprobs + 1));
  if (spec.prompt_logprobs) to.setPromptLogprobs(static_cast<uint8_t>(*spec.prompt_logprobs + 1));
  to.setTrees(static_cast<uint8_t>(spec.trees));
  if (spec.grammar.empty()) return;
  auto grammar = to.initGrammar();
  grammar.setForm(as<schema::GrammarForm>(spec.grammar.form));
  grammar.setText(spec.grammar.text);
}

void write(schema::SequenceInfo::Builder to, const GenerationSpec& spec) { write_drafter_part(to, spec); }

Result<GenerationSpec> read(schema::Start::Reader from) {
  TRY(GenerationSpec spec, read_drafter_part(from));
  spec.output_max = from.getOutputMax();
  TRY(spec.stop_ids, read("Start.stopIds", from.getStopIds(), kStopIdsMax));
  if (from.getLogprobs() > 0) spec.top_logprobs = from.getLogprobs() - 1;
  if (from.getPromptLogprobs() > 0) spec.prompt_logprobs = from.getPromptLogprobs() - 1;
  spec.trees = from.getTrees();
  TRY(spec.grammar.form, read_enum("Grammar.form", from.getGrammar().getForm(), GrammarForm::lark));
  TRY(spec.grammar.text, read("Grammar.text", from.getGrammar().getText(), kGrammarBytesMax));
  return spec;
}

Result<GenerationSpec> read(schema::SequenceInfo::Reader from) { return read_drafter_part(from); }

}  // namespace slipstream::wire
