#include "tools/slipstream/verify/draws.h"

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

Unit common_unit(const Sides& sides) {
  if (sides.give_ids()) return Unit::token_id;
  return sides.reference.logprobs && sides.candidate.logprobs ? Unit::logprob_token : Unit::character;
}

Draw cut(const Answer& answer, Unit unit, size_t units_max) {
  Draw draw;
  if (unit == Unit::token_id) {
    for (size_t i = 0; i < std::min(units_max, answer.ids.size()); ++i) draw.units.push_back(std::to_string(answer.ids[i]));
    draw.texts = answer.pieces;
    if (answer.spent_until.size() == answer.ids.size()) draw.spent = answer.spent_until;
    draw.spent.resize(std::min(draw.spent.size(), draw.units.size()));
    draw.drafted = drafted_places(answer);
    draw.drafted.resize(std::min(draw.drafted.size(), draw.units.size()));
  } else if (unit == Unit::logprob_token) {
    draw.units = answer.logprob_tokens;
  } else {
    for (std::string_view rest = answer.text; !rest.empty() && draw.units.size() < units_max;) {
      draw.units.emplace_back(rest.substr(0, character_bytes(rest)));
      rest.remove_prefix(draw.units.back().size());
    }
  }
  if (draw.units.size() > units_max) draw.units.resize(units_max);
  return draw;
}

Result<Draws> draw(const Crew& crew, const DrawPlan& plan, Unit unit) {
  Draws draws{.reference = std::vector<Draw>(plan.samples),
              .candidate = std::vector<Draw>(plan.samples),
              .declared = std::vector<double>(plan.declares ? plan.samples : 0)};
  std::vector<Drafting> drafting(plan.samples);
  Progress progress(fmt::format("law at temperature {:g}: answers", plan.temperature), 2 * plan.samples);
  TRY_VOID(crew.run(2 * plan.samples, progress, [&](Lines& lines, size_t at) -> Result<void> {
    const bool candidate = at % 2 != 0;
    const Side& side = candidate ? crew.sides.candidate : crew.sides.reference;
    const Asking asking{plan.prompt, plan.first_seed + static_cast<int64_t>(at), plan.temperature, plan.positions + kDraftRoom};
    TRY(const Answer answer, ask(candidate ? lines.candidate : lines.reference, side, asking, unit == Unit::logprob_token));
    (candidate ? draws.candidate : draws.reference)[at / 2] = cut(answer, unit, static_cast<size_t>(plan.positions));
    if (!candidate) return {};
    drafting[at / 2].add(answer, static_cast<size_t>(plan.positions));
    if (!plan.declares) return {};
    if (!answer.bias_spent) return fail("the answer to seed {} does not say what bias it spent", asking.seed);
    draws.declared[at / 2] = *answer.bias_spent;
    return {};
  }));
  for (const Drafting& each : drafting) draws.drafting += each;
  return draws;
}

}  // namespace slipstream::command::verify
