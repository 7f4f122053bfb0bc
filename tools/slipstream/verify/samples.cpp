#include "tools/slipstream/verify/samples.h"

#include <algorithm>

namespace slipstream::command::verify {
namespace {

size_t character_bytes(std::string_view text) {
  size_t bytes = 1;
  while (bytes < text.size() && (static_cast<unsigned char>(text[bytes]) & 0xC0U) == 0x80U) ++bytes;
  return bytes;
}

}  // namespace

std::string_view words(Unit unit) {
  switch (unit) {
    case Unit::token_id:
      return "token";
    case Unit::logprob_token:
      return "token (from logprobs)";
    case Unit::character:
      break;
  }
  return "character";
}

Unit common_unit(const ServerPair& servers) {
  if (servers.give_ids()) return Unit::token_id;
  return servers.reference.logprobs && servers.candidate.logprobs ? Unit::logprob_token : Unit::character;
}

Sample cut(const Answer& answer, Unit unit, size_t units_max) {
  Sample sample;
  if (unit == Unit::token_id) {
    for (size_t i = 0; i < std::min(units_max, answer.ids.size()); ++i) sample.units.push_back(std::to_string(answer.ids[i]));
    sample.texts = answer.pieces;
    if (answer.spent_until.size() == answer.ids.size()) sample.spent = answer.spent_until;
    sample.spent.resize(std::min(sample.spent.size(), sample.units.size()));
    sample.drafted = drafted_places(answer);
    sample.drafted.resize(std::min(sample.drafted.size(), sample.units.size()));
  } else if (unit == Unit::logprob_token) {
    sample.units = answer.logprob_tokens;
  } else {
    for (std::string_view rest = answer.text; !rest.empty() && sample.units.size() < units_max;) {
      sample.units.emplace_back(rest.substr(0, character_bytes(rest)));
      rest.remove_prefix(sample.units.back().size());
    }
  }
  if (sample.units.size() > units_max) sample.units.resize(units_max);
  return sample;
}

Result<Samples> draw_samples(const QuestionPool& pool, const SamplePlan& plan, Unit unit) {
  Samples samples{.reference = std::vector<Sample>(plan.samples),
                  .candidate = std::vector<Sample>(plan.samples),
                  .declared = std::vector<double>(plan.declares ? plan.samples : 0)};
  std::vector<DraftUse> drafting(plan.samples);
  Progress progress(fmt::format("distribution at temperature {:g}: answers", plan.temperature), 2 * plan.samples);
  TRY_VOID(pool.run(2 * plan.samples, progress, [&](ClientPair& clients, size_t at) -> Result<void> {
    // Even tasks and seeds belong to the reference, odd ones to the candidate: the samples are
    // independent.
    const bool candidate = at % 2 != 0;
    const ServerUnderTest& server = candidate ? pool.servers.candidate : pool.servers.reference;
    const Query query{plan.prompt, plan.first_seed + static_cast<int64_t>(at), plan.temperature, plan.positions + kDraftRoom};
    TRY(const Answer answer,
        ask(candidate ? clients.candidate : clients.reference, server, query, unit == Unit::logprob_token));
    (candidate ? samples.candidate : samples.reference)[at / 2] = cut(answer, unit, static_cast<size_t>(plan.positions));
    if (!candidate) return {};
    drafting[at / 2].add(answer, static_cast<size_t>(plan.positions));
    if (!plan.declares) return {};
    if (!answer.bias_spent) return fail("the answer to seed {} does not say what bias it spent", query.seed);
    samples.declared[at / 2] = *answer.bias_spent;
    return {};
  }));
  for (const DraftUse& each : drafting) samples.drafting += each;
  return samples;
}

}  // namespace slipstream::command::verify
